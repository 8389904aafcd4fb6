import { alike, sketchOf } from '../../mailbox/likeness.js';
import { hourMs, protectionOf } from '../../mailbox/protection.js';
import type { PausingLimit } from '../../model/pause.js';
import { SYSTEM_ID, USER_ID } from '../../model/project-config.js';
import { agentRow } from '../rows.js';
import type { Tx } from '../tx.js';
import { pauseAgent } from '../verbs/pause.js';
import {
  countEmptyTurn,
  countHeard,
  forgetAgent,
  forgetEmptyTurns,
  forgetMail,
  forgetRepeats,
  heardFrom,
  lastMail,
  noteMail,
} from './counts.js';

/** A message as far as standing protection looks at it. */
export interface WatchedMail {
  sender: string;
  /** The agent that a notice is about: it counts as who is heard. */
  about?: string | undefined;
  /** An agent, the person, a team or a channel. */
  to: string;
  /** The agents that get it. */
  agents: readonly string[];
  body: string;
}

/**
 * Looks at a message that was just written for signs of a loop, and pauses who is in one: two agents that answer each
 * other and nobody else, and an agent that says the same again and again. A person's mail begins everything anew.
 */
export function watchMail(tx: Tx, mail: WatchedMail): void {
  const limits = protectionOf(tx.config);
  if (!limits) return;
  if (mail.sender === USER_ID) {
    for (const agent of mail.agents) forgetMail(tx, agent);
    return;
  }
  if (limits.exchanges !== undefined) watchExchange(tx, mail, limits.exchanges);
  if (limits.sameMail !== undefined && mail.sender !== SYSTEM_ID) watchRepeats(tx, mail, limits.sameMail);
}

/** An agent did something that others can see: what went before was not in vain. */
export function noteEffect(tx: Tx, agent: string): void {
  if (agent !== USER_ID && protectionOf(tx.config)) forgetMail(tx, agent);
}

/** Counts turns in a row from which nothing came. Those that a person's mail began are a person's business. */
export function watchTurnEnd(tx: Tx, turn: { id: string; agent_id: string }, madeSomething: boolean): void {
  const limit = protectionOf(tx.config)?.emptyTurns;
  if (limit === undefined) return;
  const agent = turn.agent_id;
  if (madeSomething || agentRow(tx, agent).external === 1 || wasAskedByPerson(tx, turn.id)) {
    forgetEmptyTurns(tx, agent);
    return;
  }
  if (countEmptyTurn(tx, agent) < limit) return;
  const reason = `Its last ${String(limit)} turns ended without a message, a file or a word: nothing comes of them (protection.emptyTurns).`;
  pauseFor(tx, agent, 'protection.emptyTurns', reason);
}

function watchExchange(tx: Tx, { sender, about, agents }: WatchedMail, limit: number): void {
  const from = about ?? sender;
  for (const agent of agents) {
    if (countHeard(tx, agent, from) < limit || heardFrom(tx, from, agent, tx.nowMs) < limit) continue;
    const reason = `${from} and ${agent} have answered each other ${String(limit)} times within an hour, and neither heard from anybody else or published, assigned or submitted anything (protection.exchanges).`;
    for (const one of [from, agent]) pauseFor(tx, one, 'protection.exchanges', reason);
  }
}

function watchRepeats(tx: Tx, { sender, to, body }: WatchedMail, limit: number): void {
  const sketch = sketchOf(body);
  const last = lastMail(tx, sender, to);
  const again = last !== undefined && last.since_ms > tx.nowMs - hourMs && alike(last.sketch, sketch);
  if (last && !again) forgetRepeats(tx, to, sender);
  const times = again ? last.times + 1 : 1;
  noteMail(tx, sender, to, { sketch, times, since_ms: again ? last.since_ms : tx.nowMs });
  if (times < limit) return;
  const reason = `It has sent ${to} nearly the same message ${String(limit)} times within an hour (protection.sameMail).`;
  pauseFor(tx, sender, 'protection.sameMail', reason);
}

/** Who is paused already stays so for the reason that a person knows. */
function pauseFor(tx: Tx, agent: string, limit: PausingLimit, reason: string): void {
  forgetAgent(tx, agent);
  if (agentRow(tx, agent).paused_json === null) pauseAgent(tx, agent, { actor: 'system', reason, limit });
}

function wasAskedByPerson(tx: Tx, turn: string): boolean {
  const read = `SELECT 1 FROM message_reads JOIN messages ON messages.id = message_id
    WHERE message_reads.turn_id = :turn AND sender = :user LIMIT 1`;
  return tx.get(read, { turn, user: USER_ID }) !== undefined;
}
