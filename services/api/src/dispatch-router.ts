import express, { type Request, type Response, type Router } from 'express';
import { assignTaskRequest, broadcastRequest, replyRequest, tasksQuery } from '@suzumio/contract/model/mail-api';
import { USER_ID } from '@suzumio/contract/model/project-config';
import { messageCalled } from '@suzumio/store/mail/messages';
import { listTasks } from '@suzumio/store/mail/tasks';
import type { Json, Tx } from '@suzumio/store/sqlite/tx';
import { assignTask } from '@suzumio/store/mail/assign-task';
import { broadcast } from '@suzumio/store/mail/broadcast';
import { replyToMessage } from '@suzumio/store/mail/reply-to-message';
import { identityOf } from './auth.js';
import { queryOf } from './body.js';
import { commitOnce, keyOf } from './commit-once.js';
import type { ApiContext } from './context.js';
import { listAnswer } from './list-answer.js';
import { readMail } from './message-request.js';
import { withProject } from './project-access.js';

/** Mail that finds its own way: answers, announcements, work for a role; and how that work stands. */
export function dispatchRouter(context: ApiContext): Router {
  const router = express.Router();

  router.post('/api/projects/:project/replies', async (request, response) => {
    const { message, ...reply } = readMail(replyRequest, request.body ?? {});
    await post(context, request, response, (tx, actor) => {
      const { id } = messageCalled(tx, message);
      const posted = replyToMessage(tx, { ...reply, message: id, sender: USER_ID, actor });
      return {
        id: posted.id,
        seq: posted.seq,
        recipients: posted.recipients,
        threadId: posted.threadId,
        to: posted.to,
      };
    });
  });

  router.post('/api/projects/:project/broadcasts', async (request, response) => {
    const announcement = readMail(broadcastRequest, request.body ?? {});
    await post(context, request, response, (tx, actor) => ({
      ...broadcast(tx, { ...announcement, sender: USER_ID, actor }),
    }));
  });

  router.get('/api/projects/:project/tasks', async (request, response) => {
    const query = queryOf(request, tasksQuery);
    const tasks = await withProject(context, response, request.params.project, (store) =>
      store.snapshot((reader) => listTasks(reader, query)),
    );
    response.json(listAnswer(tasks));
  });

  router.post('/api/projects/:project/tasks', async (request, response) => {
    const task = readMail(assignTaskRequest, request.body ?? {});
    await post(context, request, response, (tx, actor) => ({ ...assignTask(tx, { ...task, sender: USER_ID, actor }) }));
  });
  return router;
}

/** Writes mail in the name of whose token it came with, and lets a scheduler know. */
async function post(
  context: ApiContext,
  request: Request<{ project: string }>,
  response: Response,
  verb: (tx: Tx, actor: string) => Json,
): Promise<void> {
  const { project } = request.params;
  const key = keyOf(request, response);
  const { answer } = await withProject(context, response, project, (store) =>
    commitOnce(store, key, (tx) => verb(tx, identityOf(response).name)),
  );
  context.transport.wake(project);
  response.status(201).json(answer);
}
