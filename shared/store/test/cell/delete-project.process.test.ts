import { mkdir, readdir, rename, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { afterEach, beforeEach, describe, expect, test } from '@jest/globals';
import { Cell } from '@suzumio/store/cell/cell';
import { ContentStore } from '@suzumio/store/content/content-store';
import type { DeletionStep } from '@suzumio/store/cell/delete-project';
import { authorizeTool } from '@suzumio/store/turns/authorize';
import type { ProjectStore } from '@suzumio/store/projects/project-store';
import { ReadOnlyCell } from '@suzumio/store/cell/read-only-cell';
import { projectRow } from '@suzumio/store/rows';
import { writeTurnLog } from '@suzumio/store/content/turn-logs';
import { postMessage } from '@suzumio/store/mail/post-message';
import { startTurns } from '@suzumio/store/turns/start-turns';
import type { Tx } from '@suzumio/store/sqlite/tx';
import { type TestCell, testCell } from '../../../../test/support/cell.js';
import { children } from '../../../../test/support/child.js';

const deleting = new URL('../fixtures/delete-project.mjs', import.meta.url);

let testing: TestCell;
/** Another process of the cell, as far as its open files are concerned. */
let other: Cell;
beforeEach(async () => {
  testing = await testCell();
  other = Cell.open(testing.root);
});
afterEach(async () => {
  await other.close();
  await testing.close();
});
const startChild = children();

const request = { actor: 'ann' };
const onDisk = () => readdir(testing.cell.directory.projectsDir);
const mail = (tx: Tx) =>
  postMessage(tx, { sender: 'user', recipient: 'ada', priority: 'P1', body: 'Go.', actor: 'test' });
const post = (store: ProjectStore) => store.write(mail);
const epoch = ({ reader }: ProjectStore) => projectRow(reader).epoch;
const unknown = { code: 'project-unknown', status: 404 };

describe('deleting a project', () => {
  test('leaves nothing of it, and its name is free', async () => {
    const project = await testing.create();
    await new ContentStore(testing.cell.directory.projectDir(project)).putBytes(Buffer.from('content'));
    await testing.cell.deleteProject(project, request);
    expect(await onDisk()).toEqual([]);
    expect(testing.cell.catalog.projects.all()).toEqual([]);
    expect(testing.cell.catalog.projects.unsettled()).toEqual([]);
    await expect(testing.store(project, post)).rejects.toMatchObject(unknown);
    expect(() => new ReadOnlyCell(testing.root).read(project, () => 0)).toThrow(expect.objectContaining(unknown));

    await testing.create();
    expect(await testing.rows(project, 'SELECT seq FROM messages')).toEqual([]);
    expect(await testing.store(project, epoch)).toBe(2);
  });

  test('cancels its turns and makes their secrets worthless in the transaction that ends it', async () => {
    const project = await testing.create();
    const heard: string[] = [];
    await testing.store(project, async (store) => {
      await store.write(mail);
      await store.write((tx) => startTurns(tx));
      const [turn] = store.reader.all<{ id: string }>('SELECT id FROM turns');
      await store.write((tx) => {
        tx.run(`UPDATE turns SET status = 'running', attempt = 1`);
        tx.run(`UPDATE agents SET token_hash = 'hash' WHERE active_turn_id IS NOT NULL`);
      });
      const token = { turn: turn?.id ?? '', attempt: 1, tokenHash: 'hash' };
      expect(authorizeTool(store.reader, token)).toEqual({ agent: 'ada' });
      await testing.cell.deleteProject(project, {
        ...request,
        onStep: (step) => {
          heard.push(step);
          if (step !== 'ended') return;
          expect(() => authorizeTool(store.reader, token)).toThrow(expect.objectContaining({ code: 'token-rejected' }));
          expect(store.reader.all('SELECT status FROM turns')).toEqual([{ status: 'cancelled' }]);
          expect(store.reader.all(`SELECT actor FROM events WHERE type = 'turn.cancelled'`)).toEqual([
            { actor: 'ann' },
          ]);
        },
      });
    });
    expect(heard).toEqual(['announced', 'ended', 'unnamed', 'removed']);
  });

  test('of one that is not there is refused', async () => {
    for (const project of ['never', '../catalog', '']) {
      await expect(testing.cell.deleteProject(project, request)).rejects.toMatchObject(unknown);
    }
    await testing.create();
    await testing.cell.deleteProject('team', request);
    await expect(testing.cell.deleteProject('team', request)).rejects.toMatchObject(unknown);
  });

  test('by several at once, in several processes, deletes it once', async () => {
    await testing.create();
    await Promise.all([testing.cell, other, testing.cell, other].map((cell) => cell.deleteProject('team', request)));
    expect(await onDisk()).toEqual([]);
    expect(await testing.store((await testing.create()) as 'team', epoch)).toBe(2);
  });

  test('by one that was slow leaves alone the project that has the name by then', async () => {
    await testing.create();
    const overtaken = async (step: DeletionStep) => {
      if (step !== 'announced') return;
      await other.deleteProject('team', request);
      await testing.create();
    };
    await testing.cell.deleteProject('team', { ...request, onStep: overtaken });
    // The slow one looks at what is pending only now.
    await testing.cell.stores.delete({ project: 'team', epoch: 1 }, 'ann');
    await testing.cell.catalog.deletions.finish({ project: 'team', epoch: 1 }, () => {
      throw new Error('the directory of another project would be moved');
    });
    expect(await testing.store('team', post)).toMatchObject({ seq: 1 });
    expect(await testing.store('team', epoch)).toBe(2);
    expect(testing.cell.catalog.projects.all()).toEqual([{ id: 'team', status: 'running' }]);
  });

  test('keeps the name until its directory is out of the way', async () => {
    await testing.create();
    const refused: unknown[] = [];
    await testing.cell.deleteProject('team', {
      ...request,
      async onStep(step) {
        if (step === 'unnamed') await testing.create();
        if (step !== 'announced' && step !== 'ended') return;
        expect(testing.cell.catalog.projects.all()).toEqual([]);
        refused.push(await testing.create().catch((error: unknown) => error));
      },
    });
    expect(refused).toMatchObject([{ code: 'project-exists' }, { code: 'project-exists' }]);
    expect(await onDisk()).toEqual(['team']);
    expect(testing.cell.catalog.projects.all()).toEqual([{ id: 'team', status: 'running' }]);
  });

  test('while mail is posted has each message accepted before or refused after', async () => {
    await testing.create();
    const posts = Array.from({ length: 50 }, (_, i) => (i % 2 === 0 ? testing.cell : other).stores.use('team', post));
    const outcomes = Promise.allSettled(posts);
    await testing.cell.deleteProject('team', request);
    for (const outcome of await outcomes) {
      if (outcome.status === 'rejected') expect(outcome.reason).toMatchObject(unknown);
    }
  });

  test('revokes tokens that were for it alone', async () => {
    await testing.create();
    const { tokens } = testing.cell.catalog;
    const make = async (name: string, project?: string) =>
      (await tokens.create({ name, scope: 'write', project, actor: 'test' })).secret;
    const [own, all] = [await make('own', 'team'), await make('all')];
    await testing.cell.deleteProject('team', request);
    await testing.create();
    expect(tokens.identify(own)).toBeUndefined();
    expect(tokens.identify(all)).toMatchObject({ name: 'all' });
  });
});

describe('a request with a key', () => {
  const key = { token: 'ann', route: 'DELETE /api/projects/team', key: 'k1', requestHash: 'h' };

  test('that comes again is answered like the first time, and leaves the next project of that name alone', async () => {
    await testing.create();
    await testing.cell.deleteProject('team', { ...request, key });
    await testing.cell.deleteProject('team', { ...request, key });
    await testing.create();
    await testing.cell.deleteProject('team', { ...request, key });
    expect(await onDisk()).toEqual(['team']);
    await testing.cell.deleteProject('team', { ...request, key: { ...key, key: 'k2' } });
    expect(await onDisk()).toEqual([]);
  });
});

describe('another process that has the project open', () => {
  test('refuses what comes after, and serves the next project of that name', async () => {
    await testing.create();
    await other.stores.use('team', post);
    await testing.cell.deleteProject('team', request);
    await expect(other.stores.use('team', post)).rejects.toMatchObject(unknown);
    await testing.create();
    expect(await other.stores.use('team', epoch)).toBe(2);
    expect(await other.stores.use('team', post)).toMatchObject({ seq: 1 });
    expect(await testing.rows('team', 'SELECT seq FROM messages')).toEqual([{ seq: 1 }]);
  });

  test('writes nothing with a store that it holds on to', async () => {
    await testing.create();
    await other.stores.use('team', async (store) => {
      await testing.cell.deleteProject('team', request);
      await testing.create();
      await expect(store.write(mail)).rejects.toMatchObject(unknown);
    });
    other.stores.forgetDeleted();
    await testing.store('team', (store) => {
      expect(store.reader.all('SELECT * FROM messages')).toEqual([]);
      expect(store.reader.get('PRAGMA integrity_check')).toEqual({ integrity_check: 'ok' });
    });
  });

  test('does not make its directory anew by a file that arrives late', async () => {
    await testing.create();
    const directory = testing.cell.directory.projectDir('team');
    await testing.cell.deleteProject('team', request);
    await expect(new ContentStore(directory).putBytes(Buffer.from('late'))).rejects.toMatchObject(unknown);
    await expect(writeTurnLog(directory, { turn_id: 't', number: 1 }, Buffer.from('late'))).rejects.toMatchObject(
      unknown,
    );
    expect(await onDisk()).toEqual([]);
  });

  test('is told when the directory goes in the middle of a file', async () => {
    await testing.create();
    const directory = testing.cell.directory.projectDir('team');
    async function* slowly() {
      yield Buffer.from('half');
      await testing.cell.deleteProject('team', request);
      await testing.create();
      yield Buffer.from('rest');
    }
    await expect(new ContentStore(directory).putStream(slowly() as never)).rejects.toMatchObject(unknown);
  });
});

describe('a process that is killed while it deletes a project', () => {
  const steps: DeletionStep[] = ['announced', 'ended', 'unnamed', 'removed'];

  test.each(steps)('after it was %s has the next start finish that', async (step) => {
    await testing.create();
    const child = startChild(deleting, testing.root, 'team', step);
    while ((await child.line()) !== step);
    await child.kill();
    if (step === 'announced' || step === 'ended')
      await expect(testing.create()).rejects.toMatchObject({ code: 'project-exists' });
    if (step === 'ended') await expect(testing.store('team', post)).rejects.toMatchObject(unknown);
    await testing.cell.recover();
    expect(await onDisk()).toEqual([]);
    expect(testing.cell.catalog.projects.all()).toEqual([]);
    expect(testing.cell.catalog.deletions.pending()).toEqual([]);
    await testing.create();
    expect(await testing.store('team', epoch)).toBe(2);
  });

  test.each(steps.slice(0, 2))('after it was %s has the next request finish that', async (step) => {
    await testing.create();
    const child = startChild(deleting, testing.root, 'team', step);
    while ((await child.line()) !== step);
    await child.kill();
    await testing.cell.deleteProject('team', request);
    expect(await onDisk()).toEqual([]);
  });
});

describe('at the next start', () => {
  test('a deleted project whose directory is back, as after a power cut, goes again', async () => {
    await testing.create();
    const { projectsDir } = testing.cell.directory;
    await testing.cell.deleteProject('team', {
      ...request,
      async onStep(step) {
        if (step !== 'unnamed') return;
        const [gone] = (await onDisk()).filter((name) => name.startsWith('.gone-'));
        await rename(join(projectsDir, gone ?? ''), join(projectsDir, 'team'));
      },
    });
    await testing.cell.recover();
    expect(await onDisk()).toEqual([]);
    expect(testing.cell.catalog.projects.all()).toEqual([]);
  });

  test('a deletion that moved the directory and did not get to say so is finished', async () => {
    await testing.create();
    const { projectsDir } = testing.cell.directory;
    const onStep = async (step: DeletionStep) => {
      if (step !== 'ended') return;
      await rename(join(projectsDir, 'team'), join(projectsDir, '.gone-1'));
      throw new Error('killed');
    };
    await expect(testing.cell.deleteProject('team', { ...request, onStep })).rejects.toThrow('killed');
    await testing.cell.recover();
    expect(await onDisk()).toEqual([]);
    expect(testing.cell.catalog.deletions.pending()).toEqual([]);
    await testing.create();
    expect(await testing.store('team', epoch)).toBe(2);
  });

  test('a directory without a database is left alone', async () => {
    await mkdir(join(testing.cell.directory.projectsDir, 'notes'));
    await writeFile(join(testing.cell.directory.projectsDir, 'notes', 'a.txt'), 'mine');
    await testing.cell.recover();
    expect(await onDisk()).toEqual(['notes']);
  });
});
