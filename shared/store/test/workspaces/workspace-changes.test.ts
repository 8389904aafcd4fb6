import { describe, expect, test } from '@jest/globals';
import { completeTurn } from '@suzumio/store/turns/complete-turn';
import { retryTurn } from '@suzumio/store/turns/retry-turn';
import { findTurn, listTurns } from '@suzumio/store/turns/read-turns';
import {
  leaveWorkspace,
  listWorkspaceChanges,
  snapshotAfter,
  snapshotBefore,
  snapshotsOfTurn,
} from '@suzumio/store/workspaces/workspace-changes';
import { restoreWorkspace } from '@suzumio/store/workspaces/restore-workspace';
import { recordCapture } from '@suzumio/store/turns/captures';
import { turnRow } from '@suzumio/store/rows';
import { type Begun, type Team, teams } from '../team.js';

const team = teams();
const files = { added: 3, changed: 1, removed: 0 };
const [a, b, c] = ['a', 'b', 'c'].map((letter) => letter.repeat(64)) as [string, string, string];

const leave = (of: Team, begun: Begun, snapshot: string | null, before: string | null) =>
  of.write((tx) =>
    completeTurn(tx, begun, { output: { text: 'Done.' }, snapshot }, { before, files, onlyIndex: false }),
  );
const log = (of: Team) =>
  listWorkspaceChanges(of.store.reader, 'ada', { limit: 10 }).items.map(({ turnNumber, files: counts }) => [
    turnNumber,
    counts,
  ]);
const after = (of: Team, turn: number) => snapshotAfter(of.store.reader, 'ada', turn);

describe('the record of a workspace', () => {
  test('has each turn that has left other files than it began with', async () => {
    const of = await team();
    const first = await of.work('ada');
    await leave(of, first, a, null);
    await leave(of, await of.work('ada'), a, a);
    const third = await of.work('ada');
    await leave(of, third, null, a);
    await leave(of, await of.work('ben'), b, null);
    expect(log(of)).toEqual([
      [1, files],
      [3, files],
    ]);
    expect([0, 1, 2, 3, 4].map((turn) => after(of, turn))).toEqual([null, a, a, null, null]);
    expect(snapshotsOfTurn(of.store.reader, third.turn)).toEqual({ before: a, after: null });
    const views = listTurns(of.store.reader, { limit: 10, agent: 'ada' }).items;
    expect(views.map((turn) => turn.files)).toEqual([files, null, files]);
    expect(findTurn(of.store.reader, first.turn)?.files).toEqual(files);
    const events = of.rows<{ data: string }>(
      `SELECT data_json AS data FROM events WHERE type = 'turn.completed' ORDER BY seq`,
    );
    expect(events.map(({ data }) => (JSON.parse(data) as { files?: unknown }).files)).toEqual([
      files,
      undefined,
      files,
      files,
    ]);
  });

  test('of an agent without one is that it is as it is now', async () => {
    const of = await team();
    await of.write((tx) => tx.run(`UPDATE agents SET snapshot = :a WHERE id = 'ada'`, { a }));
    expect([log(of), after(of, 0), after(of, 7)]).toEqual([[], a, a]);
  });

  test('has a turn that went on after it had ended once, from where it began', async () => {
    const of = await team();
    const begun = await of.work('ada');
    const turn = turnRow(of.store.reader, begun.turn);
    // What is left of a turn that fails is not counted by who ends it.
    await of.write((tx) => leaveWorkspace(tx, turn, a, undefined));
    await of.fail(begun, 'policy-denied');
    expect(log(of)).toEqual([[1, null]]);
    await of.write((tx) => retryTurn(tx, 'ada', 'test'));
    expect(snapshotBefore(of.store.reader, turn.id)).toBeNull();
    const again = await of.begin(begun.turn);
    await leave(of, again, b, null);
    expect(log(of)).toEqual([[1, files]]);
    expect(snapshotsOfTurn(of.store.reader, turn.id)).toEqual({ before: null, after: b });
  });

  test('does not have a turn whose second end took back what its first had left', async () => {
    const of = await team();
    const begun = await of.work('ada');
    const turn = turnRow(of.store.reader, begun.turn);
    await of.write((tx) => leaveWorkspace(tx, turn, a, undefined));
    await of.write((tx) => leaveWorkspace(tx, turn, null, undefined));
    expect(log(of)).toEqual([]);
  });

  test('has who restored it to what, and every turn as it was', async () => {
    const of = await team();
    for (const [snapshot, before] of [
      [a, null],
      [b, a],
    ] as const)
      await leave(of, await of.work('ada'), snapshot, before);
    const restore = (turn: number, before: string, snapshot: string | null) =>
      of.write((tx) => restoreWorkspace(tx, { agent: 'ada', turn, before, snapshot, files }, 'ann'));
    await restore(1, b, a);
    await restore(1, a, a);
    const rows = listWorkspaceChanges(of.store.reader, 'ada', { limit: 10 }).items;
    expect(rows.slice(2)).toMatchObject([{ turn: null, turnNumber: 2, restoredTurn: 1, actor: 'ann', files }]);
    expect([0, 1, 2, 3].map((turn) => after(of, turn))).toEqual([null, a, b, a]);
    // A turn that changes nothing begins with what was restored.
    const third = await of.work('ada');
    await expect(restore(2, a, b)).rejects.toMatchObject({
      code: 'agent-state-refused',
      message: expect.stringContaining('suzumio cancel team ada:3'),
    });
    await leave(of, third, a, a);
    expect([2, 3].map((turn) => after(of, turn))).toEqual([b, a]);
    await expect(restore(2, b, a)).rejects.toMatchObject({ code: 'workspace-changed', retryable: false });
    expect(of.events().filter((type) => type === 'workspace.restored')).toHaveLength(1);
  });

  test('is what a failed turn goes on from, though it was captured otherwise', async () => {
    const of = await team();
    await leave(of, await of.work('ada'), a, null);
    const begun = await of.work('ada');
    await of.write((tx) => recordCapture(tx, begun, { number: 1, snapshot: b, steps: [] }));
    await of.fail(begun, 'policy-denied');
    expect(after(of, 2)).toBe(b);
    await of.write((tx) => restoreWorkspace(tx, { agent: 'ada', turn: 1, before: b, snapshot: a, files }, 'ann'));
    await of.write((tx) => retryTurn(tx, 'ada', 'test'));
    expect(await of.claim(begun.turn)).toMatchObject({ snapshot: a });
  });

  test('has no counts that were counted from something else', async () => {
    const of = await team();
    const begun = await of.work('ada');
    await leave(of, begun, c, b);
    expect(log(of)).toEqual([[1, null]]);
  });
});
