import express, { type Router } from 'express';
import { emptyRequest, type TickAnswer } from '@suzumio/contract/model/http-api';
import { readStatus } from '@suzumio/store/projects/read-project';
import { bodyOf } from './body.js';
import type { ApiContext } from './context.js';
import { withProject } from './project-access.js';

/** Asks for a look at a project that should be moving: a scheduler comes now, and the sweep no longer overlooks it. */
export function tickRouter(context: ApiContext): Router {
  const router = express.Router();

  router.post('/api/projects/:project/tick', async (request, response) => {
    bodyOf(request, emptyRequest);
    const { project } = request.params;
    const status = await withProject(context, response, project, async ({ reader }) => {
      await context.cell.noteStatus(project);
      return readStatus(reader).status;
    });
    context.transport.wake(project);
    response.json({ id: project, status } satisfies TickAnswer);
  });
  return router;
}
