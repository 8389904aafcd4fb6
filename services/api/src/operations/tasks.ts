import { USER_ID } from '@suzumio/contract/model/project-config';
import type { tasks } from '@suzumio/contract/operations/tasks';
import { listTasks } from '@suzumio/store/mail/tasks';
import { assignTask } from '@suzumio/store/mail/assign-task';
import type { Runs } from '../routes.js';
import { listAnswer } from './list-answer.js';

export const taskRuns: Runs<typeof tasks> = {
  listTasks: (call) => call.read((reader) => listAnswer(listTasks(reader, call.query))),

  assignTask: (call) =>
    call.write((tx) => ({ ...assignTask(tx, { ...call.body, sender: USER_ID, actor: call.actor }) })),
};
