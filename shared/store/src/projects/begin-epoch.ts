import type { Failure } from '@suzumio/protocol/failure-codes';
import { epochFrom, type FilePlace } from './file-place.js';
import { type AttemptRow, projectRow } from '../rows.js';
import type { Tx } from '../sqlite/tx.js';
import { queueAgain } from '../turns/queue-again.js';

/** The new epoch, and what it follows. */
export interface EpochChange {
  before: number;
  epoch: number;
}

const failure: Failure = {
  code: 'project-restored',
  message: 'The project was restored from a copy that was made while this attempt ran.',
};

/**
 * Begins a new epoch: the project continues from the state in its copy, and nothing that refers to any other epoch
 * (tokens, jobs, event ids, workspaces) is accepted. The copy's running attempts end without counting; their turns are
 * queued again, with full limits.
 *
 * The epoch comes from the clock, because the same copy may have been restored and used before.
 *
 * @param after the last epoch known under this name elsewhere
 */
export function beginEpoch(tx: Tx, { place, after = 0 }: { place: FilePlace; after?: number }): EpochChange {
  const { epoch: before } = projectRow(tx);
  const epoch = Math.max(before + 1, after + 1, epochFrom(tx.nowMs));
  tx.run('UPDATE projects SET epoch = :epoch, place_json = :place', { epoch, place: JSON.stringify(place) });
  tx.emit({ type: 'project.restored', actor: 'system', data: { epoch, before } });
  tx.run(`UPDATE turns SET delivered_at_ms = NULL WHERE status = 'queued'`);
  for (const attempt of tx.all<AttemptRow>(`SELECT * FROM turn_attempts WHERE status = 'running'`)) {
    queueAgain(tx, attempt, failure);
  }
  // A finished attempt's log and content are accepted for a while; those of another epoch are not.
  tx.run(`UPDATE turn_attempts SET lease_token_hash = ''`);
  return { before, epoch };
}
