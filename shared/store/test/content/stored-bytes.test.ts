import { mkdir, readdir, utimes, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { Readable } from 'node:stream';
import Database from 'better-sqlite3';
import { afterEach, describe, expect, test } from '@jest/globals';
import { defaultStorageLimits, type StorageLimits } from '@suzumio/contract/model/storage';
import { collectContent, unreferencedMs } from '@suzumio/store/content/collect-content';
import { ContentStore } from '@suzumio/store/content/content-store';
import { chargedBlocksSql, storedBytesSql } from '@suzumio/store/projects/stored-bytes-migration';
import { storedByOwner } from '@suzumio/store/content/stored-bytes';
import { postMessage } from '@suzumio/store/mail/post-message';
import { publishArtifact } from '@suzumio/store/content/publish-artifact';
import { type TestCell, testCell, type TestCellOptions } from '../../../../test/support/cell.js';

let testing: TestCell;
let content: ContentStore;
afterEach(() => testing.close());

async function start(options: TestCellOptions = {}): Promise<void> {
  testing = await testCell(options);
  await testing.create();
  content = new ContentStore(testing.cell.directory.projectDir('team'));
}

const limited = (agent: Partial<StorageLimits['agent']>, project: Partial<StorageLimits['project']> = {}) => ({
  storage: {
    ...defaultStorageLimits,
    agent: { ...defaultStorageLimits.agent, ...agent },
    project: { ...defaultStorageLimits.project, ...project },
  },
});

const block = 4096;

const put = (owner: string, text: string, kind: 'content' | 'snapshots' = 'content') =>
  testing.store('team', (store) => store.content.put(content, [Buffer.from(text)], { owner, kind }));
/** With what waits to be written. */
const stored = async (owner?: string) => {
  await testing.write('team', () => undefined);
  return written(owner);
};
/** What one owner has stored; without an owner, the whole project. */
const written = async (owner: string | null = null) => {
  const sums = await testing.store('team', ({ reader }) => storedByOwner(reader));
  const bytes = sums.filter((row) => row.owner === owner);
  const sum = (rows: typeof bytes) => rows.reduce((total, row) => total + row.bytes, 0);
  return {
    files: sum(bytes.filter(({ kind }) => kind !== 'rows')),
    rows: sum(bytes.filter(({ kind }) => kind === 'rows')),
  };
};
const kinds = () =>
  testing.store('team', ({ reader }) =>
    storedByOwner(reader).filter(({ kind, bytes }) => kind !== 'rows' && bytes > 0),
  );
const mail = (sender: string, body: string) =>
  testing.write('team', (tx) => postMessage(tx, { sender, recipient: 'ben', priority: 'P1', body, actor: sender }));

async function age(): Promise<void> {
  const then = new Date(Date.now() - 2 * unreferencedMs);
  const artifacts = join(testing.cell.directory.projectDir('team'), 'artifacts');
  for (const entry of await readdir(artifacts, { recursive: true })) await utimes(join(artifacts, entry), then, then);
}
const collect = () =>
  testing.store('team', (store) => collectContent(store, testing.cell.directory.projectDir('team'), Date.now()));

describe('what is stored', () => {
  test('is charged to whoever stored it first, and counts for the project once', async () => {
    await start();
    await put('ada', 'x'.repeat(5000));
    await put('ben', 'x'.repeat(5000));
    await put('ben', 'y'.repeat(10), 'snapshots');
    expect((await stored('ada')).files).toBe(2 * block);
    expect((await stored('ben')).files).toBe(block);
    expect((await stored()).files).toBe(3 * block);
    expect(await kinds()).toEqual([
      { owner: null, kind: 'content', bytes: 2 * block },
      { owner: null, kind: 'snapshots', bytes: block },
      { owner: 'ada', kind: 'content', bytes: 2 * block },
      { owner: 'ben', kind: 'snapshots', bytes: block },
    ]);
  });

  test('counts before it is written down, and is written down when the project is closed', async () => {
    await start(limited({ files: 3 * block - 1 }));
    await put('ada', 'x'.repeat(block));
    await expect(put('ada', 'y'.repeat(block + 1))).rejects.toMatchObject({
      code: 'quota-exceeded',
      details: { of: 'ada', what: 'files', usedBytes: 0, limitBytes: 3 * block - 1, neededBytes: 3 * block },
      message: expect.stringContaining('which leaves no room for at least 12 KiB more.'),
    });
    await put('ben', 'y'.repeat(600));
    await testing.restart();
    expect((await written()).files).toBe(2 * block);
  });

  test('counts for what it takes of a disk: an agent may store only so many files, however small', async () => {
    await start(limited({ files: 10 * block }));
    const outcomes = await Promise.allSettled(
      Array.from({ length: 20 }, (_, number) => put('ada', String(number).padStart(4, '0'))),
    );
    expect(outcomes.filter(({ status }) => status === 'fulfilled')).toHaveLength(10);
    await expect(put('ada', '')).rejects.toMatchObject({ code: 'quota-exceeded' });
  });

  test('is given back when it is collected', async () => {
    await start();
    await put('ada', 'unused');
    await stored();
    await age();
    expect(await collect()).toBe(1);
    expect(await stored('ada')).toMatchObject({ files: 0 });
    expect(await stored()).toMatchObject({ files: 0 });
  });

  test('as rows is charged to whoever made them', async () => {
    await start();
    const before = { ada: (await stored('ada')).rows, all: (await stored()).rows };
    await mail('ada', 'é'.repeat(5000));
    const after = { ada: (await stored('ada')).rows, all: (await stored()).rows };
    expect(after.ada - before.ada).toBeGreaterThan(10_000);
    expect(after.ada - before.ada).toBeLessThan(12_000);
    expect(after.all - before.all).toBe(after.ada - before.ada);
  });

  test('within directories counts each list of contents once, also where some is known', async () => {
    await start();
    const publish = (contents: string[]) =>
      testing.write('team', (tx) =>
        publishArtifact(tx, {
          creator: 'ada',
          name: 'd',
          path: 'artifacts/aa/a',
          sha256: 'a'.repeat(64),
          sizeBytes: 1,
          directory: { files: contents.length, contents },
        }),
      );
    const more = async (contents: string[]) => {
      const before = (await stored('system')).rows;
      await publish(contents);
      return (await stored('system')).rows - before;
    };
    const [b, c, d] = ['b', 'c', 'd'].map((digit) => digit.repeat(64)) as [string, string, string];
    await publish([b]);
    const withoutContents = await more([b]);
    expect(await more([b, c, d])).toBe(withoutContents + 2 * (128 + 64));
  });
});

describe('an upload beyond a quota', () => {
  test('is refused while it arrives, and leaves nothing', async () => {
    await start(limited({}, { files: 100_000 }));
    let sent = 0;
    const endless = Readable.from(
      (function* () {
        for (; sent < 10_000_000; sent += 10_000) yield Buffer.alloc(10_000);
      })(),
    );
    const owner = { owner: 'ada', kind: 'content' } as const;
    await expect(testing.store('team', (store) => store.content.put(content, endless, owner))).rejects.toMatchObject({
      code: 'quota-exceeded',
      details: { of: 'project' },
    });
    expect(sent).toBeLessThan(1_000_000);
    const left = await readdir(join(testing.cell.directory.projectDir('team'), 'artifacts'));
    expect(left.filter((name) => name.startsWith('.'))).toEqual([]);
    expect((await stored()).files).toBe(0);
  });

  test('is refused beside others that arrive', async () => {
    await start(limited({ files: 1_000_000 }));
    const outcomes = await Promise.allSettled(
      Array.from({ length: 8 }, (_, number) => put('ada', String(number).repeat(300_000))),
    );
    expect(outcomes.filter(({ status }) => status === 'fulfilled').length).toBeLessThanOrEqual(3);
    expect((await stored('ada')).files).toBeLessThanOrEqual(1_000_000);
  });
});

describe('a project of an earlier version', () => {
  test('opens, and is charged for what it holds', async () => {
    await start();
    const file = testing.cell.directory.projectFile('team');
    const hash = await content.putBytes(Buffer.from('published'));
    const workspaceFile = await content.putBytes(Buffer.from('in a workspace'));
    const entries = [{ kind: 'file', path: 'a', sha256: workspaceFile, sizeBytes: 14, executable: false }];
    const snapshot = await content.putBytes(Buffer.from(JSON.stringify({ version: 1, entries })));
    await mail('ada', 'm'.repeat(3000));
    await testing.write('team', (tx) => {
      publishArtifact(tx, { creator: 'ada', name: 'a', path: content.pathOf(hash), sha256: hash, sizeBytes: 9 });
      tx.run(`UPDATE agents SET snapshot = :snapshot WHERE id = 'ben'`, { snapshot });
    });
    const rows = await stored('ada');
    await testing.cell.stores.close();
    const database = new Database(file);
    const triggers = database
      .prepare(`SELECT name FROM sqlite_schema WHERE type = 'trigger'`)
      .pluck()
      .all() as string[];
    for (const name of triggers) database.exec(`DROP TRIGGER ${name}`);
    database.exec('DROP TABLE stored_bytes; DROP TABLE stored_content');
    // The step by itself: later ones have been taken.
    database.exec(storedBytesSql);
    const charged = () => database.prepare('SELECT owner, kind, bytes FROM stored_bytes WHERE kind = ?').all('content');
    expect(charged()).toEqual(['', 'ada'].map((owner) => ({ owner, kind: 'content', bytes: 9 })));
    database.exec(chargedBlocksSql);
    expect(charged()).toEqual(['', 'ada'].map((owner) => ({ owner, kind: 'content', bytes: block })));
    database.close();
    await testing.restart();

    expect(await stored('ada')).toEqual({ rows: rows.rows, files: block });
    await mkdir(join(testing.cell.directory.projectDir('team'), 'logs'), { recursive: true });
    const turn = await testing.write('team', (tx) => {
      tx.insert('turns', {
        id: 'turn_1',
        agent_id: 'ben',
        number: 1,
        status: 'completed',
        priority: 'P1',
        queued_at_ms: 1,
      });
      return 'turn_1';
    });
    await writeFile(join(testing.cell.directory.projectDir('team'), 'logs', `${turn}.1.log`), 'said');
    await age();
    expect(await collect()).toBe(0);
    expect((await kinds()).filter(({ owner }) => owner === 'ben')).toEqual([
      { owner: 'ben', kind: 'logs', bytes: block },
      { owner: 'ben', kind: 'snapshots', bytes: 2 * block },
    ]);
  });
});
