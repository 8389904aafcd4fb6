import { SuzumioError } from '@suzumio/contract/errors/suzumio-error';
import { assertTaskAllows, type TaskMove, type TaskState } from '@suzumio/contract/model/task-states';
import { noteEffect } from '../protection/watch.js';
import type { Tx } from '../sqlite/tx.js';
import type { MessageText } from './write-message.js';

/** A task and its new state. Its id is that of the message that assigned it, which is its thread's id, too. */
export interface MovedTask {
  id: string;
  state: TaskState;
}

/**
 * Changes a task's state, as its assignee's reply says. Repeating the present state changes nothing.
 *
 * @throws SuzumioError `task-unknown` where the thread is about none, `task-not-assignee`, `task-state-refused`
 */
export function moveTask(
  tx: Tx,
  move: { id: string; to: TaskMove; by: Pick<MessageText, 'sender' | 'actor' | 'turn'>; reply: string },
): MovedTask {
  const { id, to, by } = move;
  const task = tx.get<{ assignee: string; assigner: string; state: TaskState }>(
    'SELECT assignee, assigner, state FROM tasks WHERE message_id = :id',
    { id },
  );
  if (!task) {
    throw new SuzumioError('task-unknown', `The thread ${id} is about no task; leave "task" out of the reply.`, {
      thread: id,
    });
  }
  if (task.assignee !== by.sender) {
    throw new SuzumioError(
      'task-not-assignee',
      `Task ${id} was assigned to ${task.assignee}, and only ${task.assignee} can say that it is ${to}.`,
      { task: id, assignee: task.assignee },
    );
  }
  // A turn that reads mail delivered again may repeat what an earlier turn reported.
  if (task.state === to) return { id, state: to };
  assertTaskAllows({ id, state: task.state }, to);
  tx.run('UPDATE tasks SET state = :to, state_message_id = :reply, state_at_ms = :now WHERE message_id = :id', {
    id,
    to,
    reply: move.reply,
    now: tx.nowMs,
  });
  if (to === 'done') noteEffect(tx, by.sender);
  tx.emit({
    type: `task.${to}`,
    actor: by.actor,
    agent: task.assignee,
    turn: by.turn,
    data: { task: id, assigner: task.assigner, message: move.reply },
  });
  return { id, state: to };
}
