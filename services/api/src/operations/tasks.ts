import { USER_ID } from '@suzumio/contract/model/project-config';
import type { tasks } from '@suzumio/contract/operations/tasks';
import { listTasks } from '@suzumio/store/mail/tasks';
import { assignTask } from '@suzumio/store/mail/assign-task';
import type { Runs } from '../routes.js';
import { readIndexed } from './read-indexed.js';

export const taskRuns: Runs<typeof tasks> = {
  listTasks: (call) => readIndexed(call, (reader) => listTasks(reader, call.query)),

  assignTask: (call) =>
    call.write((tx) => ({ ...assignTask(tx, { ...call.body, sender: USER_ID, actor: call.actor }) })),
};
