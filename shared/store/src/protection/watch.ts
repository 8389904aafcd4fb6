import { alike, sketchOf } from '@suzumio/core/mail/likeness';
import { hourMs, protectionOf } from '@suzumio/core/mail/protection';
import type { PausingLimit } from '@suzumio/contract/model/pause';
import { readingTools } from '@suzumio/protocol/tool-names';
import { SYSTEM_ID, USER_ID } from '@suzumio/contract/model/project-config';
import { agentRow } from '../rows.js';
import type { Tx } from '../sqlite/tx.js';
import { pauseAgent } from './pause.js';
import {
  countEmptyTurn,
  countHeard,
  forgetAgent,
  forgetEmptyTurns,
  forgetMail,
  forgetRepeats,
  forgetSent,
  heardFrom,
  lastMail,
  noteMail,
} from './counts.js';

/** A message, as the loop protection sees it. */
export interface WatchedMail {
  sender: string;
  /** The turn that it was written in; for a notice, the turn that it is about. */
  turn?: string | undefined;
  /** The agent that a notice is about: it counts as the sender. */
  about?: string | undefined;
  /** An agent, the person, a team or a channel. */
  to: string;
  /** The agents that receive it. */
  agents: readonly string[];
  body: string;
}

/**
 * Checks a new message for signs of a loop, and pauses the agents in one: two agents that answer only each other, or an
 * agent that repeats itself. All mail of one turn counts once. A person's mail resets the counts.
 */
export function watchMail(tx: Tx, mail: WatchedMail): void {
  const limits = protectionOf(tx.config);
  if (!limits) return;
  if (mail.sender === USER_ID) {
    for (const agent of mail.agents) forgetMail(tx, agent);
    return;
  }
  if (limits.exchanges !== undefined) watchExchange(tx, mail, limits.exchanges);
  if (limits.sameMail !== undefined && mail.sender !== SYSTEM_ID && mail.agents.length > 0) {
    watchRepeats(tx, mail, limits.sameMail);
  }
}

/** Records an effect that others can see: earlier turns were not in vain. */
export function noteEffect(tx: Tx, agent: string): void {
  if (agent !== USER_ID && protectionOf(tx.config)) forgetMail(tx, agent);
}

/**
 * Records an assignment. An assigner may send many agents the same text. An assignment is no effect by itself: two
 * agents can assign to each other for ever.
 */
export function noteAssigned(tx: Tx, assigner: string): void {
  if (assigner !== USER_ID && protectionOf(tx.config)) forgetSent(tx, assigner);
}

/** The result of a turn. */
export interface TurnYield {
  text: string;
  /** Whether the turn produced anything besides text. */
  madeSomething: boolean;
}

/**
 * Counts consecutive turns without effect. A model always writes some text, which is sent to no one, so for its turns
 * tool calls count instead. Turns that a person's mail or a notice began are not another agent's doing.
 */
export function watchTurnEnd(tx: Tx, turn: { id: string; agent_id: string }, made: TurnYield): void {
  const limit = protectionOf(tx.config)?.emptyTurns;
  if (limit === undefined) return;
  const agent = turn.agent_id;
  const isModel = tx.config.backend.runner.mode === 'ai';
  const something = made.madeSomething || (isModel ? hasCalled(tx, turn.id) : made.text.trim() !== '');
  if (something || agentRow(tx, agent).external === 1 || !wasBegunByAgents(tx, turn.id)) {
    forgetEmptyTurns(tx, agent);
    return;
  }
  if (countEmptyTurn(tx, agent) < limit) return;
  const reason = `Its last ${String(limit)} turns ended without a message, a file or a ${isModel ? 'tool call' : 'word'}: nothing comes of them (protection.emptyTurns).`;
  pauseFor(tx, agent, 'protection.emptyTurns', reason);
}

function watchExchange(tx: Tx, { sender, turn, about, agents }: WatchedMail, limit: number): void {
  const from = about ?? sender;
  for (const agent of agents) {
    if (countHeard(tx, agent, from, turn) < limit || heardFrom(tx, from, agent, tx.nowMs) < limit) continue;
    const reason = `${from} and ${agent} have answered each other in ${String(limit)} turns each within an hour, and neither heard from anybody else, finished a task, or published or submitted anything (protection.exchanges).`;
    for (const one of [from, agent]) pauseFor(tx, one, 'protection.exchanges', reason);
  }
}

function watchRepeats(tx: Tx, { sender, to, body, ...mail }: WatchedMail, limit: number): void {
  const sketch = sketchOf(body);
  const last = lastMail(tx, sender, to);
  const again = last !== undefined && last.since_ms > tx.nowMs - hourMs && alike(last.sketch, sketch);
  if (last && !again) forgetRepeats(tx, to, sender);
  const turn = mail.turn ?? null;
  const isSameTurn = turn !== null && last?.turn === turn;
  const times = again ? last.times + (isSameTurn ? 0 : 1) : 1;
  noteMail(tx, sender, to, { sketch, times, since_ms: again ? last.since_ms : tx.nowMs, turn });
  if (times < limit) return;
  const reason = `It has sent ${to} nearly the same message in ${String(limit)} turns within an hour (protection.sameMail).`;
  pauseFor(tx, sender, 'protection.sameMail', reason);
}

/** Pauses an agent; one that is paused keeps its reason, which a person knows. */
function pauseFor(tx: Tx, agent: string, limit: PausingLimit, reason: string): void {
  forgetAgent(tx, agent);
  if (agentRow(tx, agent).paused_json === null) pauseAgent(tx, agent, { actor: 'system', reason, limit });
}

/** Whether all mail of a turn is from other agents. */
function wasBegunByAgents(tx: Tx, turn: string): boolean {
  const read = `SELECT 1 FROM message_reads JOIN messages ON messages.id = message_id
    WHERE message_reads.turn_id = :turn AND sender IN (:user, :system) LIMIT 1`;
  return tx.get(read, { turn, user: USER_ID, system: SYSTEM_ID }) === undefined;
}

function hasCalled(tx: Tx, turn: string): boolean {
  const called = `SELECT 1 FROM tool_calls WHERE turn_id = :turn AND status = 'succeeded'
    AND tool NOT IN (SELECT value FROM json_each(:reading)) LIMIT 1`;
  return tx.get(called, { turn, reading: JSON.stringify(readingTools) }) !== undefined;
}
