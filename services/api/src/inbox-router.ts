import express, { type Router } from 'express';
import { inboxQuery } from '@suzumio/contract/model/http-api';
import { listInbox } from '@suzumio/store/mail/messages';
import { agentRow } from '@suzumio/store/rows';
import { queryOf } from './body.js';
import type { ApiContext } from './context.js';
import { listAnswer } from './list-answer.js';
import { withProject } from './project-access.js';

/** Mail that waits: unread, or left behind by a turn that did not do what it asks for. */
export function inboxRouter(context: ApiContext): Router {
  const router = express.Router();

  router.get('/api/projects/:project/inbox', async (request, response) => {
    const query = queryOf(request, inboxQuery);
    const messages = await withProject(context, response, request.params.project, (store) =>
      store.snapshot((reader) => {
        if (query.agent !== undefined) agentRow(reader, query.agent);
        return listInbox(reader, query);
      }),
    );
    response.json(listAnswer(messages));
  });
  return router;
}
