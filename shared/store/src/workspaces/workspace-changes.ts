import type { FileCounts, WorkspaceChangeView } from '@suzumio/contract/model/workspace';
import { agentRow, type TurnRow } from '../rows.js';
import { iso, type Page, parsed, type Part, readPart } from '../sqlite/page.js';
import type { SqlReader } from '../sqlite/sql.js';
import type { Tx } from '../sqlite/tx.js';
import type { Comparison } from './compare-snapshots.js';

interface Row {
  seq: number;
  agent_id: string;
  turn_id: string | null;
  turn_number: number;
  snapshot_before: string | null;
  snapshot_after: string | null;
  files_json: string | null;
  restored_turn: number | null;
  actor: string | null;
  created_at_ms: number;
}

/** A change that was counted before the transaction that records it. */
export interface CountedChange extends Pick<Comparison, 'files' | 'onlyIndex'> {
  /** What it was counted from. */
  before: string | null;
}

/** What is known of a change. */
export interface LeftWorkspace {
  /** Null where it was not counted. */
  files: FileCounts | null;
  /** Whether it is known to be nothing but Git's index. */
  onlyIndex: boolean;
}

/**
 * The snapshot that a turn's changes are counted from: the agent's, or where the turn has ended before and goes on, the
 * one that it began with then.
 */
export function snapshotBefore(reader: SqlReader, turn: string): string | null {
  const row = reader.get<{ snapshot: string | null }>(
    `SELECT iif(changes.turn_id IS NULL, agents.snapshot, changes.snapshot_before) AS snapshot
     FROM turns JOIN agents ON agents.id = turns.agent_id
       LEFT JOIN workspace_changes AS changes ON changes.turn_id = turns.id
     WHERE turns.id = :turn`,
    { turn },
  );
  return row?.snapshot ?? null;
}

/**
 * Makes a snapshot the agent's own, as what the turn has left, and records that it changed.
 *
 * @param counted is not recorded where it was counted from another snapshot
 * @returns what was recorded; undefined where the agent has that snapshot already
 */
export function leaveWorkspace(
  tx: Tx,
  turn: Pick<TurnRow, 'id' | 'agent_id' | 'number'>,
  snapshot: string | null,
  counted: CountedChange | undefined,
): LeftWorkspace | undefined {
  const before = snapshotBefore(tx, turn.id);
  const { changes } = tx.run('UPDATE agents SET snapshot = :snapshot WHERE id = :agent AND snapshot IS NOT :snapshot', {
    snapshot,
    agent: turn.agent_id,
  });
  if (changes === 0) return undefined;
  const { files, onlyIndex } = counted?.before === before ? counted : { files: null, onlyIndex: false };
  tx.run('DELETE FROM workspace_changes WHERE turn_id = :turn', { turn: turn.id });
  if (before !== snapshot) {
    tx.insert('workspace_changes', {
      agent_id: turn.agent_id,
      turn_id: turn.id,
      turn_number: turn.number,
      snapshot_before: before,
      snapshot_after: snapshot,
      files_json: files && JSON.stringify(files),
      created_at_ms: tx.nowMs,
    });
  }
  return { files, onlyIndex };
}

/** The snapshots before and after a turn; the same where it has changed nothing. */
export function snapshotsOfTurn(reader: SqlReader, turn: string): { before: string | null; after: string | null } {
  const row = hasChanges(reader)
    ? reader.get<Row>('SELECT * FROM workspace_changes WHERE turn_id = :turn', { turn })
    : undefined;
  return { before: row?.snapshot_before ?? null, after: row?.snapshot_after ?? null };
}

/** An agent's snapshot after one of its turns; 0 is before the first that is on record. */
export function snapshotAfter(reader: SqlReader, agent: string, turnNumber: number): string | null {
  const { snapshot } = agentRow(reader, agent);
  if (!hasChanges(reader)) return snapshot;
  const last = reader.get<Row>(
    `SELECT * FROM workspace_changes WHERE agent_id = :agent
       AND (turn_number < :turnNumber OR turn_number = :turnNumber AND turn_id IS NOT NULL) ORDER BY seq DESC LIMIT 1`,
    { agent, turnNumber },
  );
  if (last) return last.snapshot_after;
  const first = reader.get<Row>('SELECT * FROM workspace_changes WHERE agent_id = :agent ORDER BY seq LIMIT 1', {
    agent,
  });
  return first ? first.snapshot_before : snapshot;
}

/** The changes of an agent's workspace, in their order. */
export function listWorkspaceChanges(reader: SqlReader, agent: string, page: Page): Part<WorkspaceChangeView> {
  if (!hasChanges(reader)) return { items: [] };
  const rows = { from: 'workspace_changes', key: 'seq', where: ['agent_id = :agent'], params: { agent } };
  return readPart<Row, WorkspaceChangeView>(reader, rows, page, (row) => ({
    seq: row.seq,
    agent: row.agent_id,
    turn: row.turn_id,
    turnNumber: row.turn_number,
    restoredTurn: row.restored_turn,
    actor: row.actor,
    files: parsed<FileCounts>(row.files_json),
    createdAt: iso(row.created_at_ms),
  }));
}

/** The snapshots before and after a change, by its place in the list. */
export function snapshotsOfChange(reader: SqlReader, seq: number): { before: string | null; after: string | null } {
  const row = reader.get<Row>('SELECT * FROM workspace_changes WHERE seq = :seq', { seq });
  return { before: row?.snapshot_before ?? null, after: row?.snapshot_after ?? null };
}

/** SQL for the counts of a turn's changes, as JSON. */
export function filesOfTurn(reader: SqlReader): string {
  return hasChanges(reader) ? '(SELECT files_json FROM workspace_changes WHERE turn_id = turns.id)' : 'NULL';
}

/** Whether changes are on record here: a database that is only read may have an earlier schema. */
function hasChanges(reader: SqlReader): boolean {
  return reader.get(`SELECT 1 FROM sqlite_schema WHERE name = 'workspace_changes'`) !== undefined;
}
