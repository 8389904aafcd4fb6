import express, { type Router } from 'express';
import { noQuery, pageQuery } from '@suzumio/contract/model/http-api';
import { redeliverRequest } from '@suzumio/contract/model/mail-api';
import { listMessages, listThread } from '@suzumio/store/mail/messages';
import { readMessageDetail } from '@suzumio/store/turns/receipts';
import { redeliverMessage } from '@suzumio/store/mail/redeliver-message';
import { identityOf } from './auth.js';
import { bodyOf, queryOf } from './body.js';
import { commitOnce, keyOf } from './commit-once.js';
import type { ApiContext } from './context.js';
import { listAnswer } from './list-answer.js';
import { postFromUser, readMessage } from './message-request.js';
import { withProject } from './project-access.js';

/** Mail: read all of it or what belongs together, send some, deliver some again. */
export function messagesRouter(context: ApiContext): Router {
  const router = express.Router();

  router.get('/api/projects/:project/messages', async (request, response) => {
    const page = queryOf(request, pageQuery);
    const messages = await withProject(context, response, request.params.project, (store) =>
      store.snapshot((reader) => listMessages(reader, page)),
    );
    response.json(listAnswer(messages));
  });

  router.get('/api/projects/:project/messages/:message', async (request, response) => {
    queryOf(request, noQuery);
    const { project, message } = request.params;
    response.json(
      await withProject(context, response, project, (store) =>
        store.snapshot((reader) => readMessageDetail(reader, message)),
      ),
    );
  });

  router.get('/api/projects/:project/threads/:thread', async (request, response) => {
    const page = queryOf(request, pageQuery);
    const { project, thread } = request.params;
    const messages = await withProject(context, response, project, (store) =>
      store.snapshot((reader) => listThread(reader, thread, page)),
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

  router.post('/api/projects/:project/messages/:message/redeliver', async (request, response) => {
    const { agent } = bodyOf(request, redeliverRequest);
    const { project, message } = request.params;
    const actor = identityOf(response).name;
    const key = keyOf(request, response);
    const { answer } = await withProject(context, response, project, (store) =>
      commitOnce(store, key, (tx) => ({ ...redeliverMessage(tx, message, { agent, actor }) })),
    );
    context.transport.wake(project);
    response.json(answer);
  });
  return router;
}
