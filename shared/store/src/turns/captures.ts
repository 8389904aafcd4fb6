import { SuzumioError } from '@suzumio/contract/errors/suzumio-error';
import type { CaptureRequest } from '@suzumio/protocol/attempts';
import { attemptRow, type TurnRow } from '../rows.js';
import type { SqlReader } from '../sqlite/sql.js';
import type { Tx } from '../sqlite/tx.js';
import { leaveWorkspace, type LeftWorkspace } from '../workspaces/workspace-changes.js';
import { assertRunning, type AttemptId } from './authorize.js';
import { keepUncaptured } from './uncaptured-steps.js';

/** The newest capture of a turn's workspace. */
export interface CaptureRow {
  attempt: number;
  number: number;
  /** Null where the workspace was empty. */
  snapshot: string | null;
}

export function newestCapture(reader: SqlReader, turn: string): CaptureRow | undefined {
  return reader.get<CaptureRow>('SELECT attempt, number, snapshot FROM turn_captures WHERE turn_id = :turn', { turn });
}

/**
 * Commits a capture: later attempts begin with it, and answer the steps that it covers from the journal. A capture that comes
 * again changes nothing.
 *
 * @throws SuzumioError `attempt-over`; `invalid-request` for a step that the attempt has not ended, or a number too far
 */
export function recordCapture(tx: Tx, id: AttemptId, { number, snapshot, steps }: CaptureRequest): void {
  const { turn, attempt } = id;
  assertRunning(attemptRow(tx, turn, attempt), id);
  const newest = newestCapture(tx, turn);
  const before = newest?.attempt === attempt ? newest.number : 0;
  if (number <= before) return;
  if (number !== before + 1) {
    throw new SuzumioError('invalid-request', `The next capture of this attempt is number ${String(before + 1)}.`);
  }
  tx.run(
    `INSERT INTO turn_captures (turn_id, attempt, number, snapshot, captured_at_ms)
     VALUES (:turn, :attempt, :number, :snapshot, :now) ON CONFLICT (turn_id) DO UPDATE SET
       attempt = excluded.attempt, number = excluded.number, snapshot = excluded.snapshot,
       captured_at_ms = excluded.captured_at_ms`,
    { turn, attempt, number, snapshot, now: tx.nowMs },
  );
  for (const step of steps) cover(tx, id, step);
  keepUncaptured(tx, turn);
}

function cover(tx: Tx, { turn, attempt }: AttemptId, step: string): void {
  const { changes } = tx.run(
    `UPDATE tool_calls SET captured = 1 WHERE turn_id = :turn AND step = :step AND attempt = :attempt
       AND request_hash IS NOT NULL AND status IN ('succeeded', 'failed')`,
    { turn, attempt, step },
  );
  if (changes === 1) return;
  throw new SuzumioError('invalid-request', `This attempt has ended no step ${step} in the sandbox.`);
}

/**
 * Gives an agent the newest capture of its turn, if there is one.
 *
 * @returns what was recorded; undefined where its snapshot is the same
 */
export function keepCapture(tx: Tx, turn: TurnRow): LeftWorkspace | undefined {
  const newest = newestCapture(tx, turn.id);
  return newest && leaveWorkspace(tx, turn, newest.snapshot, undefined);
}
