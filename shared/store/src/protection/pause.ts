import type { Pause, PausingLimit } from '@suzumio/contract/model/pause';
import { assertAgentAllows } from '@suzumio/core/failures/agent-actions';
import { agentRow, pauseOf, stateOf } from '../rows.js';
import { iso } from '../sqlite/page.js';
import { forgetAgent } from './counts.js';
import type { Tx } from '../sqlite/tx.js';

/** Who pauses or resumes, and why. */
export interface PauseRequest {
  actor: string;
  reason?: string | undefined;
  /** The limit of the project file that was reached. */
  limit?: PausingLimit | undefined;
}

/**
 * Pauses a project: it starts no turns, and workers get none of its queued ones, until it is resumed. Running turns
 * finish, and mail is accepted as always. Pausing again replaces the reason.
 */
export function pauseProject(tx: Tx, request: PauseRequest): Pause {
  const pause = newPause(tx, request);
  tx.run('UPDATE projects SET paused_json = :pause', { pause: JSON.stringify(pause) });
  tx.emit({ type: 'project.paused', actor: request.actor, data: { reason: pause.reason } });
  return pause;
}

/** Resumes a project. Agents that were paused on their own stay paused. Returns whether it was paused. */
export function resumeProject(tx: Tx, { actor }: PauseRequest): boolean {
  if (tx.run('UPDATE projects SET paused_json = NULL WHERE paused_json IS NOT NULL').changes === 0) return false;
  tx.emit({ type: 'project.resumed', actor });
  return true;
}

/**
 * The same for one agent.
 *
 * @throws SuzumioError `agent-unknown`; `agent-state-refused` for one that was retired
 */
export function pauseAgent(tx: Tx, agentId: string, request: PauseRequest): Pause {
  const agent = agentRow(tx, agentId);
  assertAgentAllows({ id: agent.id, state: stateOf(agent), stopping: agent.stopping === 1 }, 'pause');
  const pause = newPause(tx, request);
  tx.run('UPDATE agents SET paused_json = :pause WHERE id = :id', { pause: JSON.stringify(pause), id: agent.id });
  tx.emit({
    type: 'agent.paused',
    actor: request.actor,
    agent: agent.id,
    data: { reason: pause.reason, limit: pause.limit },
  });
  return pause;
}

/**
 * Resumes an agent; its turns of the last hour and its turns without effect no longer count. Returns whether it was
 * paused.
 *
 * @throws SuzumioError `agent-unknown`
 */
export function resumeAgent(tx: Tx, agentId: string, { actor }: PauseRequest): boolean {
  const agent = agentRow(tx, agentId);
  if (pauseOf(agent) === null) return false;
  tx.run('UPDATE agents SET paused_json = NULL, hour_from_turn = turns WHERE id = :id', { id: agent.id });
  forgetAgent(tx, agent.id);
  tx.emit({ type: 'agent.resumed', actor, agent: agent.id });
  return true;
}

function newPause(tx: Tx, { actor, reason, limit }: PauseRequest): Pause {
  return { by: actor, at: iso(tx.nowMs), reason: reason ?? null, ...(limit === undefined ? {} : { limit }) };
}
