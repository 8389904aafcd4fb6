import type { Failure } from '@suzumio/protocol/failure-codes';
import { epochFrom, type FilePlace } from './file-place.js';
import { type AttemptRow, projectRow, turnRow } from '../rows.js';
import type { Tx } from '../sqlite/tx.js';
import { closeAttempt } from '../turns/end-turn.js';

/** What a new epoch came after. */
export interface EpochChange {
  before: number;
  epoch: number;
}

const failure: Failure = {
  code: 'project-restored',
  message: 'The project was restored from a copy that was made while this attempt ran.',
};

/**
 * Begins a project's next life: what it was when a copy of it was made goes on from here, and nothing that was said of any
 * other life (tokens, jobs, event ids, workspaces) is taken for this one's. Attempts of the copy end without counting;
 * their turns are queued again, with all their allowances.
 *
 * The epoch comes from the clock: the same copy may have been restored before, and lived on for a while.
 *
 * @param after the last epoch that is known to have been under this name elsewhere
 */
export function beginEpoch(tx: Tx, { place, after = 0 }: { place: FilePlace; after?: number }): EpochChange {
  const { epoch: before } = projectRow(tx);
  const epoch = Math.max(before + 1, after + 1, epochFrom(tx.nowMs));
  tx.run('UPDATE projects SET epoch = :epoch, place_json = :place', { epoch, place: JSON.stringify(place) });
  tx.emit({ type: 'project.restored', actor: 'system', data: { epoch, before } });
  tx.run(`UPDATE turns SET delivered_at_ms = NULL WHERE status = 'queued'`);
  for (const attempt of tx.all<AttemptRow>(`SELECT * FROM turn_attempts WHERE status = 'running'`)) {
    queueAgain(tx, attempt);
  }
  // An attempt that is over takes its log and content for a while yet; one of another life takes nothing.
  tx.run(`UPDATE turn_attempts SET lease_token_hash = ''`);
  return { before, epoch };
}

function queueAgain(tx: Tx, attempt: AttemptRow): void {
  const turn = turnRow(tx, attempt.turn_id);
  closeAttempt(tx, attempt, { status: 'failed', failure, counted: false });
  tx.run(
    `UPDATE turns SET status = 'queued', delivered_at_ms = NULL, not_before_ms = :now, waits_for = NULL,
       avoid_worker = NULL, allowance_from = :attempt WHERE id = :turn`,
    { turn: turn.id, attempt: attempt.number, now: tx.nowMs },
  );
  tx.emit({
    type: 'turn.requeued',
    actor: 'system',
    agent: turn.agent_id,
    turn: turn.id,
    data: { number: turn.number, attempt: attempt.number, ...failure, inMs: 0 },
  });
}
