import { anyRequest } from '../journal.js';
import type { AttemptRow } from '../rows.js';
import type { Tx } from '../sqlite/tx.js';
import { queueAgain } from '../turns/queue-again.js';
import type { Failure } from '@suzumio/protocol/failure-codes';

const failure: Failure = {
  code: 'input-redacted',
  message: 'Something that this turn knows was redacted; its next attempt goes on without that.',
};

/**
 * Sees to it that an agent of whose turns something was redacted knows it no more: a running attempt ends without
 * counting, and the next one goes on from the journal.
 *
 * What was asked of a model holds all that came before, so it is another question now. The journaled answers stay those of
 * their places, whatever is asked there; an answer that is still awaited is paid for and not journaled, since it may
 * repeat what was redacted. What attempts that are over have still to hand in is not taken any more.
 */
export function beginAnew(tx: Tx, agent: string): void {
  tx.run(
    `UPDATE turn_steps SET request_hash = :any
     WHERE turn_id IN (SELECT id FROM turns WHERE agent_id = :agent AND status <> 'completed')
       AND EXISTS (SELECT 1 FROM model_calls WHERE model_calls.turn_id = turn_steps.turn_id AND step = key)`,
    { any: anyRequest, agent },
  );
  tx.run(`UPDATE model_calls SET request_hash = :any WHERE status = 'running' AND agent_id = :agent`, {
    any: anyRequest,
    agent,
  });
  const running = tx.all<AttemptRow>(
    `SELECT turn_attempts.* FROM turn_attempts JOIN turns ON turns.id = turn_id
     WHERE turn_attempts.status = 'running' AND agent_id = :agent`,
    { agent },
  );
  for (const attempt of running) queueAgain(tx, attempt, failure);
  tx.run(
    `UPDATE turn_attempts SET lease_token_hash = '' WHERE turn_id IN (SELECT id FROM turns WHERE agent_id = :agent)`,
    { agent },
  );
}
