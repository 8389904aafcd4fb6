import express, { type Response, type Router } from 'express';
import { type WaitAnswer, waitQuery } from '@suzumio/contract/model/http-api';
import { eventPosition } from '@suzumio/store/projects/events';
import { readProject } from '@suzumio/store/projects/read-project';
import { queryOf } from './body.js';
import type { ApiContext } from './context.js';
import type { EventHub } from './events/event-hub.js';
import type { OpenAccess } from './open-access.js';
import { withProject } from './project-access.js';

/** One answer when a project is where somebody wants it, for programs that have nothing else to do meanwhile. */
export function waitRouter(context: ApiContext, hub: EventHub, access: OpenAccess): Router {
  const router = express.Router();

  router.get('/api/projects/:project/wait', async (request, response) => {
    const { status: statuses, timeout } = queryOf(request, waitQuery);
    const { project: id } = request.params;
    const look = () =>
      withProject(context, response, id, (store) =>
        store.snapshot((reader) => ({ project: readProject(reader), position: eventPosition(reader) })),
      );
    const { project, position } = await look();
    if (statuses.includes(project.status)) {
      response.json({ project, reached: project.status } satisfies WaitAnswer);
      return;
    }
    // From that very moment on: nothing that happens meanwhile is missed.
    const gone = whenGone(response);
    const allowed = access.of(response);
    const signal = AbortSignal.any([gone, allowed, AbortSignal.timeout(timeout)]);
    const reached = (await hub.waitForStatus(id, position, statuses, signal)) ?? null;
    allowed.throwIfAborted();
    if (!gone.aborted) response.json({ project: (await look()).project, reached } satisfies WaitAnswer);
  });
  return router;
}

function whenGone(response: Response): AbortSignal {
  const gone = new AbortController();
  response.once('close', () => gone.abort());
  return gone.signal;
}
