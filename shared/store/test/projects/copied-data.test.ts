import { cp, mkdtemp, rename, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterEach, beforeEach, describe, expect, test } from '@jest/globals';
import { authorizeLease, authorizeTool } from '@suzumio/store/turns/authorize';
import { Cell } from '@suzumio/store/cell/cell';
import type { ProjectStore } from '@suzumio/store/projects/project-store';
import { projectRow } from '@suzumio/store/rows';
import { Sql } from '@suzumio/store/sqlite/sql';
import { claimTurn } from '@suzumio/store/turns/claim-turn';
import { prepareTurn } from '@suzumio/store/turns/prepare-turn';
import { deliverableTurns, deliverTurn } from '@suzumio/store/turns/deliver-turn';
import { postMessage } from '@suzumio/store/mail/post-message';
import { startTurns } from '@suzumio/store/turns/start-turns';
import { type TestCell, testCell } from '../../../../test/support/cell.js';

let testing: TestCell;
let elsewhere: string;
const open = new Set<Cell>();
beforeEach(async () => {
  testing = await testCell();
  elsewhere = await mkdtemp(join(tmpdir(), 'suzumio-copies-'));
});
afterEach(async () => {
  await Promise.all([...open].map((cell) => cell.close()));
  open.clear();
  await testing.close();
  await rm(elsewhere, { recursive: true, force: true });
});

/** Opens a data directory as a process does that starts. */
async function started(root: string): Promise<Cell> {
  const cell = Cell.open(root);
  open.add(cell);
  await cell.recover();
  return cell;
}

/** A backup as the documentation has it: nothing runs while it is made. */
async function backup(name = 'backup'): Promise<string> {
  await testing.cell.close();
  const copy = join(elsewhere, name);
  await cp(testing.root, copy, { recursive: true });
  await testing.restart();
  return copy;
}

const epoch = (cell: Cell, project = 'team') => cell.stores.use(project, ({ reader }) => projectRow(reader).epoch);
const hashes = (attempt: number, at: number) => ({ lease: `lease-${attempt}-${at}`, tool: `tool-${attempt}-${at}` });

/** A turn of ada that runs, and one of ben that waits for a worker, with its job on the queue. */
async function busy(): Promise<{ running: string; queued: string }> {
  return testing.store('team', async (store) => {
    for (const recipient of ['ada', 'ben']) {
      await store.write((tx) =>
        postMessage(tx, { sender: 'user', recipient, priority: 'P1', body: 'Go.', actor: 'test' }),
      );
    }
    const [running = '', queued = ''] = await store.write(startTurns);
    const prepared = prepareTurn(store.reader, store.config, running);
    const claimId = '1'.repeat(32);
    await store.write((tx) =>
      claimTurn(tx, { turn: running, claimId, worker: 'w1', engine: 'test', leaseMs: 15_000, hashes, prepared }),
    );
    await store.write((tx) => deliverTurn(tx, queued, 0));
    return { running, queued };
  });
}

const turnOf = ({ reader }: ProjectStore, turn: string) =>
  reader.get<{ status: string; delivered_at_ms: number | null; allowance_from: number }>(
    'SELECT status, delivered_at_ms, allowance_from FROM turns WHERE id = :turn',
    { turn },
  );

describe('a data directory that was restored from a copy', () => {
  test('begins a new epoch, once, with whichever process opens a project first', async () => {
    await testing.create();
    const copy = await backup();
    const [one, other] = [await started(copy), await started(copy)];
    const begun = await epoch(one);
    expect(begun).toBeGreaterThan(1);
    expect(await epoch(other)).toBe(begun);
    await one.close();
    open.delete(one);
    expect(await epoch(await started(copy))).toBe(begun);
    expect(
      await other.stores.use('team', ({ reader }) =>
        reader.all(`SELECT data_json FROM events WHERE type = 'project.restored'`),
      ),
    ).toEqual([{ data_json: JSON.stringify({ epoch: begun, before: 1 }) }]);
    // What it was copied from is what it was.
    expect(await epoch(testing.cell)).toBe(1);
  });

  test('ends the attempts of the copy, and opens nothing to their secrets', async () => {
    await testing.create();
    const { running } = await busy();
    const copy = await backup();
    const token = (kind: 'lease' | 'tool') => ({ turn: running, attempt: 1, tokenHash: hashes(1, 1)[kind] });
    const accepts = (cell: Cell) => cell.stores.use('team', ({ reader }) => authorizeTool(reader, token('tool')));
    expect(await accepts(testing.cell)).toEqual({ agent: 'ada' });
    const restored = await started(copy);
    await restored.stores.use('team', (store) => {
      for (const opens of [
        () => authorizeTool(store.reader, token('tool')),
        () => authorizeLease(store.reader, token('lease')),
      ]) {
        expect(opens).toThrow(expect.objectContaining({ code: 'token-rejected' }));
      }
      expect(store.reader.all("SELECT status, counted, failure_json ->> 'code' AS code FROM turn_attempts")).toEqual([
        { status: 'failed', counted: 0, code: 'project-restored' },
      ]);
      expect(turnOf(store, running)).toMatchObject({ status: 'queued', allowance_from: 1 });
      expect(store.reader.all(`SELECT token_hash FROM agents WHERE token_hash IS NOT NULL`)).toEqual([]);
    });
    expect(await accepts(testing.cell)).toEqual({ agent: 'ada' });
  });

  test('gives its queued turns to workers at once, as jobs of the new epoch', async () => {
    await testing.create();
    const { running, queued } = await busy();
    const restored = await started(await backup());
    await restored.stores.use('team', (store) => {
      const jobs = deliverableTurns(store.reader, Date.now());
      expect(turnOf(store, queued)).toMatchObject({ status: 'queued', delivered_at_ms: null });
      expect(jobs.map(({ turn, lost }) => ({ turn, lost }))).toEqual(
        [running, queued].map((turn) => ({ turn, lost: false })),
      );
    });
  });

  test('never takes an epoch that an earlier restoring of the same copy took', async () => {
    await testing.create();
    const copy = await backup();
    const lives = ['first', 'second'].map((name) => join(elsewhere, name));
    const epochs: number[] = [];
    for (const [index, life] of lives.entries()) {
      await cp(copy, life, { recursive: true });
      testing.setNow(Date.UTC(2026, 10, 22) + index * 3_600_000);
      const cell = Cell.open(life, { context: testing.cell.context });
      open.add(cell);
      epochs.push(await epoch(cell));
    }
    expect(new Set(epochs).size).toBe(2);
    expect(epochs[1]).toBeGreaterThan(epochs[0] ?? 0);
  });

  test('gives a new project an epoch that none has had which was made after the copy', async () => {
    const copy = await backup();
    await testing.create();
    expect(await epoch(testing.cell)).toBe(1);
    const restored = await started(copy);
    expect(restored.catalog.copied).toBe(true);
    expect(restored.catalog.projects.firstEpoch('team')).toBeGreaterThan(1);
    expect((await started(copy)).catalog.copied).toBe(false);
  });

  test('says of what was before the new epoch that it is gone, so that workers remove its workspaces', async () => {
    await testing.create();
    const restored = await started(await backup());
    const begun = await epoch(restored);
    await restored.close();
    open.delete(restored);
    const { deletions } = (await started(join(elsewhere, 'backup'))).catalog;
    expect([1, begun - 1, begun].map((each) => deletions.includes('team', each))).toEqual([true, true, false]);
  });

  test('goes on as it was where it was only moved on its file system', async () => {
    await testing.create();
    const { running } = await busy();
    await testing.cell.close();
    const moved = join(elsewhere, 'moved');
    await rename(testing.root, moved);
    const cell = await started(moved);
    expect(await epoch(cell)).toBe(1);
    expect(cell.catalog.copied).toBe(false);
    expect(await cell.stores.use('team', (store) => turnOf(store, running))).toMatchObject({ status: 'running' });
    await testing.restart();
  });
});

describe('a file system that numbers its devices anew at each start of the machine', () => {
  test('is no copy', async () => {
    await testing.create();
    await epoch(testing.cell);
    await testing.cell.close();
    const file = join(testing.root, 'projects/team/project.db');
    const sql = Sql.open(file);
    sql.run(`UPDATE projects SET place_json = json_set(place_json, '$.device', '4711')`);
    sql.close();
    expect(await epoch(await started(testing.root))).toBe(1);
    await testing.restart();
  });
});

describe('a project that was put back from a copy', () => {
  const directory = () => testing.cell.directory.projectDir('team');

  test('while the others stayed begins a new epoch by itself', async () => {
    await testing.create();
    await testing.create(
      `name: other\ntask: Stay.\nbackend: { runner: { mode: mock } }\nagents: { ann: { role: r, prompt: p, tools: [] } }`,
    );
    const copy = await backup();
    await testing.cell.close();
    await rm(directory(), { recursive: true });
    await cp(join(copy, 'projects/team'), directory(), { recursive: true });
    const cell = await started(testing.root);
    expect(await epoch(cell)).toBeGreaterThan(1);
    expect(await epoch(cell, 'other')).toBe(1);
    await testing.restart();
  });

  test('after it was deleted is listed again, in an epoch of its own', async () => {
    await testing.create();
    await testing.write('team', (tx) =>
      postMessage(tx, { sender: 'user', recipient: 'ada', priority: 'P1', body: 'Kept.', actor: 'test' }),
    );
    const copy = await backup();
    // The name was used again, and given up again.
    await testing.cell.deleteProject('team', { actor: 'ann' });
    await testing.create();
    await testing.cell.deleteProject('team', { actor: 'ann' });
    await cp(join(copy, 'projects/team'), directory(), { recursive: true });
    await expect(epoch(testing.cell)).rejects.toMatchObject({ code: 'project-unknown' });

    await testing.cell.recover();
    expect(testing.cell.catalog.projects.all()).toEqual([{ id: 'team', status: 'running' }]);
    expect(testing.cell.catalog.projects.unsettled()).toEqual(['team']);
    expect(await epoch(testing.cell)).toBeGreaterThan(2);
    expect(await testing.rows('team', 'SELECT body FROM messages')).toEqual([{ body: 'Kept.' }]);
    // It can be deleted as any other.
    await testing.cell.deleteProject('team', { actor: 'ann' });
    expect(testing.cell.catalog.projects.all()).toEqual([]);
  });

  test('by moving it out of the way and back is listed again, too', async () => {
    await testing.create();
    const aside = join(elsewhere, 'team');
    await testing.cell.close();
    await rename(directory(), aside);
    await testing.restart();
    await testing.cell.catalog.deletions.announce('team', 1);
    await testing.cell.recover();
    expect(testing.cell.catalog.projects.all()).toEqual([]);
    await rename(aside, directory());
    await testing.cell.recover();
    expect(testing.cell.catalog.projects.all()).toEqual([{ id: 'team', status: 'running' }]);
    expect(await epoch(testing.cell)).toBeGreaterThan(1);
  });

  test('under another name is left alone: it would do the work of the first one twice', async () => {
    await testing.create();
    await testing.cell.close();
    await cp(directory(), testing.cell.directory.projectDir('team-backup'), { recursive: true });
    await testing.restart();
    const problems = await testing.cell.recover();
    expect(problems).toMatchObject([{ project: 'team-backup', error: { code: 'project-misplaced' } }]);
    expect(testing.cell.catalog.projects.all()).toEqual([{ id: 'team', status: 'running' }]);
  });
});
