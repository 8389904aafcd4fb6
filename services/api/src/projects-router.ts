import express, { type Router } from 'express';
import {
  type AgentListAnswer,
  createProjectRequest,
  type DeleteProjectAnswer,
  emptyRequest,
  noQuery,
  type ProjectListAnswer,
  projectsQuery,
} from '@suzumio/contract/model/http-api';
import type { ProjectConfig } from '@suzumio/contract/model/project-config';
import { listAgents } from '@suzumio/store/projects/agents';
import { identityOf, requireWholeCell } from './auth.js';
import { bodyOf, queryOf } from './body.js';
import { keyOf } from './commit-once.js';
import type { ApiContext } from './context.js';
import { createPostedProject } from './create-project.js';
import { deleteProject } from './delete-project.js';
import { readMessage } from './message-request.js';
import { withProject } from './project-access.js';
import { detailOf, withDetails } from './project-list.js';

/** Projects and their rosters: make them, read them, delete them. */
export function projectsRouter(context: ApiContext): Router {
  const router = express.Router();

  router.get('/api/projects', async (request, response) => {
    const { label: labels, status: statuses, include, after, limit } = queryOf(request, projectsQuery);
    const only = identityOf(response).project ?? undefined;
    const listed = context.cell.catalog.listProjects({ only, labels, statuses, after, limit: limit + 1 });
    const part = listed.slice(0, limit);
    const { items, last } =
      include === undefined
        ? { items: part.map(({ id, status, labels }) => ({ id, status, labels })), last: part.at(-1) }
        : await withDetails(context, response, part);
    const more = last !== listed.at(-1);
    response.json({
      items,
      ...(more && last ? { next: `${last.createdAtMs}.${last.id}` } : {}),
    } satisfies ProjectListAnswer);
  });

  router.post('/api/projects', async (request, response) => {
    const identity = identityOf(response);
    requireWholeCell(identity);
    refuseForgedMessage(request.body);
    const posted = bodyOf(request, createProjectRequest);
    const key = keyOf(request, response);
    const { answer, repeated } = await createPostedProject(context, { ...posted, actor: identity.name, key });
    // A project's first transaction comes before the project: nobody is told of its events, so they are counted here.
    if (posted.message && !repeated) context.metrics.mailAccepted.inc({ sender: 'user' });
    if (posted.start) context.transport.wake(answer.project.id);
    response.status(201).location(`${context.publicPath}/api/projects/${answer.project.id}`).json(answer);
  });

  router.get('/api/projects/:project', async (request, response) => {
    queryOf(request, noQuery);
    const answer = await withProject(context, response, request.params.project, (store) => detailOf(context, store));
    response.json(answer);
  });

  router.delete('/api/projects/:project', async (request, response) => {
    queryOf(request, noQuery);
    bodyOf(request, emptyRequest);
    const { project } = request.params;
    await deleteProject(context, response, project, keyOf(request, response));
    response.json({ id: project } satisfies DeleteProjectAnswer);
  });

  router.get('/api/projects/:project/agents', async (request, response) => {
    queryOf(request, noQuery);
    const items = await withProject(context, response, request.params.project, ({ reader }) => listAgents(reader));
    response.json({ items } satisfies AgentListAnswer);
  });

  router.get('/api/projects/:project/config/resolved', async (request, response) => {
    queryOf(request, noQuery);
    const config = await withProject(context, response, request.params.project, (store) => store.config);
    response.json(config satisfies ProjectConfig);
  });
  return router;
}

/** The first mail is refused for the same reasons, and with the same codes, as any other. */
function refuseForgedMessage(body: unknown): void {
  const message = typeof body === 'object' && body !== null && 'message' in body ? body.message : undefined;
  if (message !== undefined) readMessage(message, 'message');
}
