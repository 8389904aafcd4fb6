import { existsSync } from 'node:fs';
import { mkdir, readdir, rename, utimes, writeFile } from 'node:fs/promises';
import { dirname, join } from 'node:path';
import { afterEach, beforeEach, describe, expect, test } from '@jest/globals';
import { collectContent, unreferencedMs } from '@suzumio/store/content/collect-content';
import { ContentStore, hashOf } from '@suzumio/store/content/content-store';
import type { ProjectStore } from '@suzumio/store/projects/project-store';
import type { Tx } from '@suzumio/store/sqlite/tx';
import { postMessage } from '@suzumio/store/mail/post-message';
import { publishArtifact } from '@suzumio/store/content/publish-artifact';
import { startTurns } from '@suzumio/store/turns/start-turns';
import { type TestCell, testCell } from '../../../../test/support/cell.js';
import { children } from '../../../../test/support/child.js';

const collectInChild = new URL('../fixtures/collect-content.mjs', import.meta.url);
const collectMeasured = new URL('../fixtures/collect-measured.mjs', import.meta.url);
const startChild = children();

let testing: TestCell;
let directory: string;
let content: ContentStore;
beforeEach(async () => {
  testing = await testCell();
  await testing.create();
  directory = testing.cell.directory.projectDir('team');
  content = new ContentStore(directory);
});
afterEach(() => testing.close());

const collect = () => testing.store('team', (store) => collectContent(store, directory, Date.now()));
const stored = (text: string) => content.putBytes(Buffer.from(text));
const fileOf = (hash: string) => join(directory, content.pathOf(hash));
/** Where a file is that is being removed. */
const asideOf = (hash: string) => join(dirname(fileOf(hash)), `.old-${hash}`);
const putAside = (hash: string) => rename(fileOf(hash), asideOf(hash));

/** Makes everything that is stored two days old. */
async function age(): Promise<void> {
  const then = new Date(Date.now() - 2 * unreferencedMs);
  for (const place of ['artifacts', 'reports'].map((name) => join(directory, name)).filter(existsSync)) {
    for (const entry of await readdir(place, { recursive: true })) await utimes(join(place, entry), then, then);
  }
}

const publish = (sha256: string, contents?: string[]) =>
  testing.write('team', (tx) =>
    publishArtifact(tx, {
      creator: 'ada',
      name: 'a',
      path: content.pathOf(sha256),
      sha256,
      sizeBytes: 1,
      directory: contents && { files: contents.length, contents },
    }),
  );

async function snapshotOf(text: string): Promise<{ file: string; snapshot: string }> {
  const file = await stored(text);
  const entries = [{ kind: 'file', path: 'a.txt', sha256: file, sizeBytes: text.length, executable: false }];
  return { file, snapshot: await stored(JSON.stringify({ version: 1, entries })) };
}
const workAt = (snapshot: string) =>
  testing.write('team', (tx) => tx.run(`UPDATE agents SET snapshot = :snapshot WHERE id = 'ada'`, { snapshot }));

describe('content that nothing refers to', () => {
  test('of a project that is deleted meanwhile is nobody’s failure', async () => {
    const { snapshot } = await snapshotOf('work');
    await workAt(snapshot);
    await stored('old');
    await age();
    const collecting = testing.store('team', async (store) => {
      await testing.cell.deleteProject('team', { actor: 'ann' });
      return collectContent(store, directory, Date.now());
    });
    await expect(collecting).rejects.toMatchObject({ code: 'project-unknown' });
  });

  test('is removed when it is older than a day', async () => {
    const [old, young] = [await stored('old'), 'young'];
    await age();
    const later = await stored(young);
    expect(await collect()).toBe(1);
    expect([content.has(old), content.has(later)]).toEqual([false, true]);
    expect(await collect()).toBe(0);
  });

  test('stays for a day when somebody asked for it, to refer to it', async () => {
    const hash = await stored('asked for');
    await age();
    expect(await content.renew(hash)).toBe('asked for'.length);
    expect(await collect()).toBe(0);
    expect(await content.renew('0'.repeat(64))).toBeUndefined();
  });

  test('of which a crash left a beginning goes as well; what is not ours stays', async () => {
    const artifacts = join(directory, 'artifacts');
    await mkdir(join(artifacts, 'notes'));
    for (const name of ['.0123456789abcdef', 'README', 'notes/.hidden']) await writeFile(join(artifacts, name), 'x');
    await age();
    expect(await collect()).toBe(1);
    expect(await readdir(artifacts)).toEqual(['README', 'notes']);
  });

  test('is removed in one round, however much it is', async () => {
    for (let n = 0; n < 520; n += 1) {
      const name = n.toString(16).padStart(64, '0');
      await writeFile(join(directory, 'artifacts', name), '');
    }
    await age();
    expect([await collect(), await collect()]).toEqual([520, 0]);
  });
});

describe('content that something refers to stays, however old it is', () => {
  test('as a file, as a directory and what is in it', async () => {
    const [file, list, inside] = [await stored('file'), await stored('list'), await stored('inside')];
    await publish(file);
    await publish(list, [inside]);
    await age();
    expect(await collect()).toBe(0);
  });

  test('as an agent’s workspace, but not as one that it had before', async () => {
    const before = await snapshotOf('before');
    await workAt(before.snapshot);
    const now = await snapshotOf('now');
    await workAt(now.snapshot);
    await age();
    expect(await collect()).toBe(2);
    expect([before.file, before.snapshot].map((hash) => content.has(hash))).toEqual([false, false]);
    expect([now.file, now.snapshot].map((hash) => content.has(hash))).toEqual([true, true]);
  });

  test('as a file or a directory, however deep, of a workspace that has a manifest for each', async () => {
    const file = await stored('deep');
    const entry = { kind: 'file', name: 'a.txt', sha256: file, sizeBytes: 4, executable: false };
    const inner = await stored(JSON.stringify({ version: 2, entries: [entry] }));
    const directory = { kind: 'directory', name: 'd', sha256: inner };
    const outer = await stored(JSON.stringify({ version: 2, entries: [directory] }));
    await workAt(await stored(JSON.stringify({ version: 2, entries: [{ ...directory, sha256: outer }] })));
    await age();
    expect(await collect()).toBe(0);
    await workAt(outer);
    expect(await collect()).toBe(1);
    await workAt((await snapshotOf('later')).snapshot);
    expect(await collect()).toBe(3);
  });

  test('as a directory of a workspace that has a file with the bytes of its manifest', async () => {
    const file = await stored('in a directory');
    const entry = { kind: 'file', name: 'a.txt', sha256: file, sizeBytes: 14, executable: false };
    const manifest = JSON.stringify({ version: 2, entries: [entry] });
    const inner = await stored(manifest);
    const copy = { kind: 'file', name: 'copy', sha256: inner, sizeBytes: manifest.length, executable: false };
    const directory = { kind: 'directory', name: 'd', sha256: inner };
    await workAt(await stored(JSON.stringify({ version: 2, entries: [copy, directory] })));
    await age();
    expect(await collect()).toBe(0);
  });

  test('as a workspace that an agent had before, for as long as its history is kept; its manifests longer', async () => {
    const day = 24 * 60 * 60 * 1000;
    const versions: { file: string; snapshot: string }[] = [];
    for (const text of ['one', 'two', 'three', 'four']) {
      const file = await stored(text);
      const entry = { kind: 'file', name: 'a.txt', sha256: file, sizeBytes: text.length, executable: false };
      versions.push({ file, snapshot: await stored(JSON.stringify({ version: 2, entries: [entry] })) });
    }
    const nowMs = Date.now();
    await testing.write('team', (tx) => {
      versions.forEach(({ snapshot }, index) => {
        tx.insert('workspace_changes', {
          agent_id: 'ada',
          turn_number: index + 1,
          snapshot_before: versions[index - 1]?.snapshot ?? null,
          snapshot_after: snapshot,
          created_at_ms: nowMs - (10 - index) * day,
        });
      });
      tx.run(`UPDATE agents SET turns = 4, snapshot = :snapshot WHERE id = 'ada'`, {
        snapshot: versions[3]?.snapshot ?? '',
      });
    });
    await age();
    const kept = () => versions.map(({ file, snapshot }) => [content.has(file), content.has(snapshot)]);
    const collectWith = (history: { keepFor: number; turns: number }) =>
      testing.store('team', (store) => collectContent(store, directory, nowMs, history));
    expect(await collectWith({ keepFor: 365 * day, turns: 1 })).toBe(0);
    expect(await collectWith({ keepFor: 1, turns: 4 })).toBe(0);
    // What the oldest turn that is kept has begun with is kept, too: its changes are told from it.
    expect(await collectWith({ keepFor: 1, turns: 2 })).toBe(1);
    expect(kept()).toEqual([
      [false, true],
      [true, true],
      [true, true],
      [true, true],
    ]);
    expect(await collectWith({ keepFor: 7.5 * day, turns: 1 })).toBe(1);
    expect(kept()).toEqual([
      [false, true],
      [false, true],
      [true, true],
      [true, true],
    ]);
    // What is no manifest is of no use, and keeps nothing from being collected.
    const nonsense = await stored('no manifest');
    await testing.write('team', (tx) =>
      tx.run('UPDATE workspace_changes SET snapshot_before = :nonsense WHERE turn_number = 1', { nonsense }),
    );
    await stored('unused');
    await age();
    expect(await collectWith({ keepFor: 365 * day, turns: 1 })).toBe(1);
    expect(content.has(nonsense)).toBe(true);
  });

  test('as part of a workspace that cannot be read: then nothing is removed', async () => {
    await stored('unused');
    await workAt(await stored('not the list of a workspace'));
    await age();
    await expect(collect()).rejects.toThrow();
    await workAt('0'.repeat(64));
    await expect(collect()).rejects.toThrow('is missing');
    expect((await readdir(join(directory, 'artifacts'), { recursive: true })).length).toBeGreaterThan(3);
  });

  test('as a workspace that a turn has left while it was looked for', async () => {
    const { file, snapshot } = await snapshotOf('just done');
    await age();
    const overtaken = (store: ProjectStore) => ({
      reader: store.reader,
      async write<Result>(verb: (tx: Tx) => Result): Promise<Result> {
        await workAt(snapshot);
        return store.write(verb);
      },
    });
    expect(await testing.store('team', (store) => collectContent(overtaken(store), directory, Date.now()))).toBe(0);
    expect([content.has(file), content.has(snapshot)]).toEqual([true, true]);
  });

  test('does not keep what nothing refers to, though turns end all the time', async () => {
    const unused = await Promise.all(Array.from({ length: 600 }, (_, number) => stored(`unused ${String(number)}`)));
    const snapshots = await Promise.all([1, 2, 3, 4].map((number) => snapshotOf(`version ${String(number)}`)));
    await age();
    const coming = snapshots.slice();
    const busy = (store: ProjectStore) => ({
      reader: store.reader,
      async write<Result>(verb: (tx: Tx) => Result): Promise<Result> {
        const next = coming.shift();
        if (next) await workAt(next.snapshot);
        return store.write(verb);
      },
    });
    await testing.store('team', (store) => collectContent(busy(store), directory, Date.now()));
    expect(unused.filter((hash) => content.has(hash))).toEqual([]);
    const last = snapshots.at(-1);
    expect([last?.file, last?.snapshot].map((hash) => content.has(hash ?? ''))).toEqual([true, true]);
  });

  test('as a report, but not as one that was not taken', async () => {
    const [taken, refused] = [await stored('# Taken'), await stored('# Refused')];
    const reports = join(directory, 'reports');
    await mkdir(reports);
    const earlier = `turn_01-${'0'.repeat(12)}.md`;
    const refusedEarlier = `turn_01-${'1'.repeat(12)}.md`;
    for (const name of [earlier, refusedEarlier]) await writeFile(join(reports, name), 'A report.');
    const turn = await testing.write('team', (tx) => {
      postMessage(tx, { sender: 'user', recipient: 'ada', priority: 'P1', body: 'Go.', actor: 'admin' });
      return startTurns(tx)[0] ?? '';
    });
    await testing.write('team', (tx) => {
      [content.pathOf(taken), join('reports', earlier)].forEach((path, index) => {
        tx.insert('reports', { version: index + 1, path, agent_id: 'ada', turn_id: turn, created_at_ms: 1 });
      });
    });
    await age();
    expect(await collect()).toBe(2);
    expect([taken, refused].map((hash) => content.has(hash))).toEqual([true, false]);
    expect(await readdir(reports)).toEqual([earlier]);
  });

  test('also when a crash came between its being put aside and its being looked at again', async () => {
    const hash = await stored('in use');
    await publish(hash);
    await putAside(hash);
    await collect();
    expect(existsSync(fileOf(hash))).toBe(true);
  });

  test('as what was stored once more after a crash had left it put aside', async () => {
    const hash = await stored('stored twice');
    await age();
    await putAside(hash);
    await stored('stored twice');
    expect(await collect()).toBe(0);
    expect([content.has(hash), existsSync(asideOf(hash))]).toEqual([true, false]);
  });
});

describe('what is charged is what is there', () => {
  /** What owners are charged with, and what there is of it. */
  const books = async () => {
    const charged = await testing.rows<{ sha256: string; bytes: number }>(
      'team',
      'SELECT sha256, size_bytes AS bytes FROM stored_content ORDER BY sha256',
    );
    const [sum] = await testing.rows<{ bytes: number }>(
      'team',
      `SELECT coalesce(sum(bytes), 0) AS bytes FROM stored_bytes WHERE owner = '' AND kind <> 'rows'`,
    );
    const entries = await readdir(join(directory, 'artifacts'), { recursive: true, withFileTypes: true });
    const files = entries.filter((entry) => entry.isFile()).map(({ name }) => name);
    return { charged: charged.map(({ sha256 }) => sha256), bytes: sum?.bytes, files: files.sort() };
  };
  const put = (text: string) =>
    testing.store('team', async (store) => {
      const { sha256 } = await store.content.put(content, [Buffer.from(text)], { owner: 'ada', kind: 'content' });
      await store.write(() => undefined);
      return sha256;
    });

  test('after a removal that was cut at any of its steps, once content is collected again', async () => {
    const kept = await put('kept');
    await publish(kept);
    for (let last = 1; ; last += 1) {
      for (const name of ['one', 'two', 'three']) await put(`${name} ${String(last)}`);
      await age();
      const child = startChild(collectInChild, testing.root, 'team', String(last));
      const steps = await child.line().catch(() => undefined);
      await child.end();
      await age();
      await collect();
      expect(await books()).toEqual({ charged: [kept], bytes: 4096, files: [kept] });
      if (steps === undefined) continue;
      expect(Number(steps)).toBeGreaterThan(6);
      expect(last).toBe(Number(steps) + 1);
      break;
    }
  });

  test('after a removal whose transaction failed', async () => {
    const hash = await put('unused');
    await age();
    const failing = (store: ProjectStore) => ({
      reader: store.reader,
      write: <Result>(verb: (tx: Tx) => Result): Promise<Result> =>
        store.write((tx) => {
          verb(tx);
          throw new Error('the disk is full');
        }),
    });
    const collecting = testing.store('team', (store) => collectContent(failing(store), directory, Date.now()));
    await expect(collecting).rejects.toThrow('the disk is full');
    expect(await books()).toEqual({ charged: [hash], bytes: 4096, files: [hash] });
  });
});

describe('a long history of workspaces', () => {
  const filesEach = 2_000;
  /** Of so many turns that each left other files. */
  async function history(turns: number): Promise<void> {
    const snapshots: string[] = [];
    for (let turn = 1; turn <= turns; turn += 1) {
      const entries = Array.from({ length: filesEach }, (_, number) => ({
        kind: 'file',
        name: String(number).padStart(6, '0'),
        sha256: hashOf(Buffer.from(`${String(turn)} ${String(number)}`)),
        sizeBytes: 4,
        executable: false,
      }));
      snapshots.push(await stored(JSON.stringify({ version: 2, entries })));
    }
    await testing.write('team', (tx) => {
      snapshots.forEach((snapshot, index) => {
        tx.insert('workspace_changes', {
          agent_id: 'ada',
          turn_number: index + 1,
          snapshot_before: snapshots[index - 1] ?? null,
          snapshot_after: snapshot,
          created_at_ms: Date.now(),
        });
      });
      tx.run(`UPDATE agents SET turns = :turns, snapshot = :snapshot WHERE id = 'ada'`, {
        turns,
        snapshot: snapshots.at(-1) ?? '',
      });
    });
  }

  /** What a process takes to collect it: how much memory at most, and how much of the time its loop is not free. */
  async function collected(): Promise<{ removed: number; maxRssKib: number; busy: number }> {
    const child = startChild(collectMeasured, testing.root, 'team');
    const line = await child.line();
    await child.end();
    return JSON.parse(line) as { removed: number; maxRssKib: number; busy: number };
  }

  test('is not held in memory, and keeps the process from nothing else', async () => {
    await history(20);
    const unused = await stored('unused');
    await age();
    const short = await collected();
    await history(150);
    await stored('unused');
    await age();
    const long = await collected();
    expect([short.removed, long.removed, content.has(unused)]).toEqual([1, 1, false]);
    // So many hashes in a map take 60 MB.
    expect(long.maxRssKib / short.maxRssKib).toBeLessThan(1.5);
    expect(long.busy).toBeLessThan(0.3);
  });
});
