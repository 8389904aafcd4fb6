import { leastLoaded } from '@suzumio/core/mail/least-loaded';
import { assignableAgents } from './assignable.js';
import { excerptOf } from './excerpt.js';
import { findTeam } from './team-members.js';
import { type MessageText, type PostedMessage, writeMessage } from './write-message.js';
import { noteAssigned } from '../protection/watch.js';
import type { Tx } from '../sqlite/tx.js';

/** Work for an agent with a role. */
export interface NewTask extends MessageText {
  role: string;
  /** The team of the assignee; without it, any agent of the project qualifies. */
  team?: string | undefined;
}

/** `id` is the message's, the thread's and the task's. */
export interface AssignedTask extends PostedMessage {
  assignee: string;
}

/**
 * Assigns work to the least loaded agent that has the role. The next assignment sees this task in the inbox, so two
 * assignments never take the same agent for idle.
 *
 * @throws SuzumioError `nobody-fits`, `team-unknown`, `attachment-unknown`, `invalid-request`
 */
export function assignTask(tx: Tx, task: NewTask): AssignedTask {
  const { sender: assigner, priority } = task;
  const role = task.role.trim();
  const team = findTeam(tx, task.team);
  const assignee = leastLoaded(assignableAgents(tx, tx.config, { role, team, assigner }));
  const posted = writeMessage(tx, task, { recipient: assignee, agents: [assignee] }, { kind: 'task' });
  tx.insert('tasks', {
    seq: posted.seq,
    message_id: posted.id,
    assigner,
    assignee,
    role,
    team: team ?? null,
    state: 'open',
    created_at_ms: tx.nowMs,
    state_at_ms: tx.nowMs,
  });
  noteAssigned(tx, assigner);
  tx.emit({
    type: 'task.assigned',
    actor: task.actor,
    agent: assignee,
    turn: task.turn,
    data: { task: posted.id, assigner, role, team, priority, excerpt: excerptOf(task.body) },
  });
  return { ...posted, assignee };
}
