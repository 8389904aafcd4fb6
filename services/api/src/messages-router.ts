import express, { type Router } from 'express';
import { pageQuery } from '@suzumio/shared/model/http-api';
import { listMessages } from '@suzumio/shared/store/queries/messages';
import { identityOf } from './auth.js';
import { queryOf } from './body.js';
import { commitOnce, keyOf } from './commit-once.js';
import type { ApiContext } from './context.js';
import { listAnswer } from './list-answer.js';
import { postFromUser, readMessage } from './message-request.js';
import { withProject } from './project-access.js';

/** Mail: read all of it, send some. */
export function messagesRouter(context: ApiContext): Router {
  const router = express.Router();

  router.get('/api/projects/:project/messages', async (request, response) => {
    const page = queryOf(request, pageQuery);
    const messages = await withProject(context, response, request.params.project, (store) =>
      store.snapshot((reader) => listMessages(reader, page)),
    );
    response.json(listAnswer(messages));
  });

  router.post('/api/projects/:project/messages', async (request, response) => {
    const { project } = request.params;
    const message = readMessage(request.body ?? {}, 'body');
    const actor = identityOf(response).name;
    const key = keyOf(request, response);
    const { answer } = await withProject(context, response, project, (store) =>
      commitOnce(store, key, (tx) => postFromUser(tx, message, actor)),
    );
    context.transport.wake(project);
    response.status(201).json(answer);
  });
  return router;
}
