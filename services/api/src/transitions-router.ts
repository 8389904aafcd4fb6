import express, { type Request, type Response, type Router } from 'express';
import {
  emptyRequest,
  type ProjectAnswer,
  requestChangesRequest,
  type RequestChangesAnswer,
  stopRequest,
} from '@suzumio/contract/model/http-api';
import { readProject } from '@suzumio/store/projects/read-project';
import type { Json, Tx } from '@suzumio/store/sqlite/tx';
import { approveProject, requestChanges, startProject, stopProject } from '@suzumio/store/projects/project-transitions';
import { identityOf } from './auth.js';
import { bodyOf } from './body.js';
import { commitOnce, keyOf } from './commit-once.js';
import type { ApiContext } from './context.js';
import { withProject } from './project-access.js';

/** What a person does to a project as a whole. */
export function transitionsRouter(context: ApiContext): Router {
  const router = express.Router();

  router.post('/api/projects/:project/start', async (request, response) => {
    bodyOf(request, emptyRequest);
    const verb = (tx: Tx, actor: string): ProjectAnswer => {
      startProject(tx, actor);
      return { project: readProject(tx) };
    };
    response.json(await transition(context, request, response, 'running', verb));
  });

  router.post('/api/projects/:project/stop', async (request, response) => {
    const { now } = bodyOf(request, stopRequest);
    const verb = (tx: Tx, actor: string): ProjectAnswer => {
      stopProject(tx, actor, { now });
      return { project: readProject(tx) };
    };
    response.json(await transition(context, request, response, 'stopped', verb));
  });

  router.post('/api/projects/:project/approve', async (request, response) => {
    bodyOf(request, emptyRequest);
    const verb = (tx: Tx, actor: string): ProjectAnswer => {
      approveProject(tx, actor);
      return { project: readProject(tx) };
    };
    response.json(await transition(context, request, response, 'completed', verb));
  });

  router.post('/api/projects/:project/request-changes', async (request, response) => {
    const { recipient, body, attachments } = bodyOf(request, requestChangesRequest);
    const verb = (tx: Tx, actor: string): RequestChangesAnswer => {
      const message = { ...requestChanges(tx, { recipient, body, attachments, actor }) };
      return { project: readProject(tx), message };
    };
    response.json(await transition(context, request, response, 'running', verb));
  });
  return router;
}

/**
 * Commits a transition. The catalog may say `running` of a project that is not, never the other way round: so it is told
 * before a transition to `running`, and in any case afterwards, whatever became of it.
 */
async function transition<Answer extends Json>(
  context: ApiContext,
  request: Request<{ project: string }>,
  response: Response,
  to: 'running' | 'stopped' | 'completed',
  verb: (tx: Tx, actor: string) => Answer,
): Promise<Answer> {
  const { project } = request.params;
  const { cell, transport } = context;
  const key = keyOf(request, response);
  const { answer } = await withProject(context, response, project, async (store) => {
    if (to === 'running') await cell.catalog.noteRunning(project);
    try {
      return await commitOnce(store, key, (tx) => verb(tx, identityOf(response).name));
    } finally {
      await noteStatus(context, project);
    }
  });
  if (to === 'running') transport.wake(project);
  return answer;
}

/** What is committed stays committed when the catalog cannot be told: the next sweep finds the difference. */
async function noteStatus({ cell, logger }: ApiContext, project: string): Promise<void> {
  try {
    await cell.noteStatus(project);
  } catch (error) {
    logger.warn({ err: error, project }, 'the catalog could not be told of a transition');
  }
}
