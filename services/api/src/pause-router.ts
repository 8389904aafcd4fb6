import express, { type Request, type Response, type Router } from 'express';
import {
  type AgentAnswer,
  type CellPauseAnswer,
  emptyRequest,
  pauseRequest,
  type ProjectAnswer,
} from '@suzumio/contract/model/http-api';
import { readAgent } from '@suzumio/store/projects/agents';
import { readProject } from '@suzumio/store/projects/read-project';
import type { Json, Tx } from '@suzumio/store/sqlite/tx';
import { pauseAgent, pauseProject, resumeAgent, resumeProject } from '@suzumio/store/protection/pause';
import { identityOf, requireAdmin } from './auth.js';
import { bodyOf } from './body.js';
import { commitOnce, keyOf } from './commit-once.js';
import type { ApiContext } from './context.js';
import { withProject } from './project-access.js';

/** Keeping agents, projects or the whole cell from starting turns for a while. */
export function pauseRouter(context: ApiContext): Router {
  const router = express.Router();
  const { cell, transport, logger } = context;
  router.use(['/api/pause', '/api/resume'], requireAdmin);

  router.post('/api/pause', async (request, response) => {
    const { reason } = bodyOf(request, pauseRequest);
    const actor = identityOf(response).name;
    const paused = await cell.catalog.pause.begin(actor, reason, keyOf(request, response));
    logger.warn({ actor, reason }, 'the whole cell is paused');
    response.json({ paused } satisfies CellPauseAnswer);
  });

  router.post('/api/resume', async (request, response) => {
    bodyOf(request, emptyRequest);
    await cell.catalog.pause.end(keyOf(request, response));
    logger.info({ actor: identityOf(response).name }, 'the whole cell is resumed');
    for (const project of cell.catalog.unsettledProjects()) transport.wake(project);
    response.json({ paused: null } satisfies CellPauseAnswer);
  });

  router.post('/api/projects/:project/pause', async (request, response) => {
    const { reason } = bodyOf(request, pauseRequest);
    const verb = (tx: Tx, actor: string) => pauseProject(tx, { actor, reason });
    response.json(await ofProject(context, request, response, verb));
  });

  router.post('/api/projects/:project/resume', async (request, response) => {
    bodyOf(request, emptyRequest);
    const verb = (tx: Tx, actor: string) => resumeProject(tx, { actor });
    response.json(await ofProject(context, request, response, verb));
  });

  router.post('/api/projects/:project/agents/:agent/pause', async (request, response) => {
    const { reason } = bodyOf(request, pauseRequest);
    const { agent } = request.params;
    const verb = (tx: Tx, actor: string) => pauseAgent(tx, agent, { actor, reason });
    response.json(await ofAgent(context, request, response, verb));
  });

  router.post('/api/projects/:project/agents/:agent/resume', async (request, response) => {
    bodyOf(request, emptyRequest);
    const { agent } = request.params;
    const verb = (tx: Tx, actor: string) => resumeAgent(tx, agent, { actor });
    response.json(await ofAgent(context, request, response, verb));
  });
  return router;
}

type Verb = (tx: Tx, actor: string) => unknown;

function ofProject(context: ApiContext, request: Request<{ project: string }>, response: Response, verb: Verb) {
  return act(context, request, response, (tx, actor): ProjectAnswer => {
    verb(tx, actor);
    return { project: readProject(tx) };
  });
}

function ofAgent(
  context: ApiContext,
  request: Request<{ project: string; agent: string }>,
  response: Response,
  verb: Verb,
) {
  return act(context, request, response, (tx, actor): AgentAnswer => {
    verb(tx, actor);
    return { agent: readAgent(tx, request.params.agent) };
  });
}

async function act<Answer extends Json>(
  context: ApiContext,
  request: Request<{ project: string }>,
  response: Response,
  verb: (tx: Tx, actor: string) => Answer,
): Promise<Answer> {
  const { project } = request.params;
  const key = keyOf(request, response);
  const { answer } = await withProject(context, response, project, (store) =>
    commitOnce(store, key, (tx) => verb(tx, identityOf(response).name)),
  );
  context.transport.wake(project);
  return answer;
}
