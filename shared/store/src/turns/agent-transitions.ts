import { SuzumioError } from '@suzumio/contract/errors/suzumio-error';
import { type AgentAction, assertAgentAllows } from '@suzumio/core/failures/agent-actions';
import { agentRow, type AgentRow, stateOf, turnRow } from '../rows.js';
import type { Tx } from '../sqlite/tx.js';
import { cancelTurn } from './end-turn.js';
import { giveBack, undeliveredMail } from '../mail/redeliver-message.js';

/**
 * Stops an agent: it starts no turns, and its mail waits. An unclaimed turn is cancelled, which costs nothing; a
 * running one finishes first, unless `now`.
 *
 * @throws SuzumioError `agent-unknown`, `agent-state-refused`, as every verb here
 */
export function stopAgent(tx: Tx, agentId: string, actor: string, options: { now: boolean }): void {
  const agent = agentRow(tx, agentId);
  // A stop may still be followed by a stop with `now`.
  if (agent.stopping === 0 || !options.now) assertAllows(agent, 'stop');
  const turn = agent.active_turn_id === null ? undefined : turnRow(tx, agent.active_turn_id);
  const awaited = turn !== undefined && turn.attempt > 0 && !options.now;
  if (turn && !awaited) cancelTurn(tx, turn, 'the agent was stopped', actor);
  setState(tx, agent, awaited ? { stopping: 1 } : { state: 'stopped', stopping: 0 });
  tx.emit({
    type: 'agent.stopped',
    actor,
    agent: agent.id,
    turn: awaited ? turn.id : undefined,
    data: { now: options.now, ...(awaited ? { afterTurn: turn.number } : {}) },
  });
}

/** Lets a stopped agent start turns again. */
export function startAgent(tx: Tx, agentId: string, actor: string): void {
  const agent = agentRow(tx, agentId);
  assertAllows(agent, 'start');
  setState(tx, agent, agent.state === 'stopped' ? { state: 'quiet', stopping: 0 } : { stopping: 0 });
  tx.emit({ type: 'agent.started', actor, agent: agent.id });
}

/**
 * Gives up an agent's failed turn; the agent is quiet from then on. With `redeliver`, its undelivered mail becomes
 * unread again: a new turn reads it, and may repeat what an earlier one did. That also works for an agent that has not
 * failed but had a turn cancelled.
 *
 * Returns the ids of the messages that are unread again.
 */
export function resetAgent(tx: Tx, agentId: string, actor: string, options: { redeliver: boolean }): string[] {
  const agent = agentRow(tx, agentId);
  assertAllows(agent, options.redeliver ? 'redeliver' : 'reset');
  const redelivered = options.redeliver ? redeliver(tx, agent.id) : [];
  if (agent.state !== 'failed' && redelivered.length === 0) {
    throw new SuzumioError(
      'agent-state-refused',
      `Agent ${agent.id} is ${agent.state} and has no undelivered mail: there is nothing to reset.`,
      { agent: agent.id, state: agent.state },
    );
  }
  if (agent.state === 'failed') setState(tx, agent, { state: 'quiet', stopping: 0 });
  tx.emit({ type: 'agent.reset', actor, agent: agent.id, data: { redelivered } });
  return redelivered;
}

/** Makes an agent's undelivered mail unread again, in order of writing. */
function redeliver(tx: Tx, agent: string): string[] {
  const mail = undeliveredMail(tx, 'turns.agent_id = :agent', { agent });
  giveBack(tx, mail);
  return mail.map(({ id }) => id);
}

/** Sets an agent's state; one that is not failed has no failure to show. */
function setState(tx: Tx, agent: AgentRow, change: { state?: 'quiet' | 'stopped'; stopping: 0 | 1 }): void {
  tx.run(
    `UPDATE agents SET state = coalesce(:state, state), stopping = :stopping, state_at_ms = :now,
       failure_json = CASE WHEN :state IS NULL THEN failure_json END WHERE id = :agent`,
    { agent: agent.id, state: change.state ?? null, stopping: change.stopping, now: tx.nowMs },
  );
}

function assertAllows(agent: AgentRow, action: AgentAction): void {
  assertAgentAllows({ id: agent.id, state: stateOf(agent), stopping: agent.stopping === 1 }, action);
}
