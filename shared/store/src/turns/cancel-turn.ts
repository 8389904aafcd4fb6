import { SuzumioError } from '@suzumio/contract/errors/suzumio-error';
import { turnCalled } from './read-turns.js';
import type { Tx } from '../sqlite/tx.js';
import { cancelTurn } from './end-turn.js';

/**
 * Cancels one turn at a person's request. Its agent is free at once: unread mail starts its next turn.
 *
 * @param name the turn's id, or `agent:number`
 * @throws SuzumioError `turn-unknown`, `turn-state-refused`
 */
export function cancelActiveTurn(tx: Tx, name: string, actor: string): { turn: string; number: number; agent: string } {
  const turn = turnCalled(tx, name);
  if (turn.status !== 'queued' && turn.status !== 'running') {
    throw new SuzumioError(
      'turn-state-refused',
      `Turn ${turn.number} of ${turn.agent_id} is ${turn.status}; only one that is queued or running can be cancelled.`,
      { turn: turn.id, status: turn.status },
    );
  }
  cancelTurn(tx, turn, `by ${actor}`, actor);
  return { turn: turn.id, number: turn.number, agent: turn.agent_id };
}
