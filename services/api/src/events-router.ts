import express, { type Request, type Response, type Router } from 'express';
import { parse } from '@suzumio/runtime/http/validate';
import { eventCursor, eventsQuery, streamQuery } from '@suzumio/contract/model/http-api';
import { listEvents } from '@suzumio/store/projects/events';
import { queryOf } from './body.js';
import type { ApiContext } from './context.js';
import type { EventHub } from './events/event-hub.js';
import { listAnswer } from './list-answer.js';
import type { OpenAccess } from './open-access.js';
import { withProject } from './project-access.js';

/** The timeline, as a list or as a stream that goes on. */
export function eventsRouter(context: ApiContext, hub: EventHub, access: OpenAccess): Router {
  const router = express.Router();

  router.get('/api/projects/:project/events', async (request, response) => {
    response.vary('accept');
    if (request.accepts(['json', 'text/event-stream']) === 'text/event-stream') {
      await stream(request, response);
      return;
    }
    const page = queryOf(request, eventsQuery);
    const events = await withProject(context, response, request.params.project, (store) =>
      store.snapshot((reader) => listEvents(reader, page)),
    );
    response.json(listAnswer(events));
  });

  router.get('/api/projects/:project/stream', stream);
  return router;

  /** A client that comes again says by `Last-Event-ID` where it was, whatever its address said the first time. */
  async function stream(request: Request<{ project: string }>, response: Response): Promise<void> {
    const { project } = request.params;
    const { after, types } = queryOf(request, streamQuery);
    const last = request.get('last-event-id');
    const from = last === undefined || last === '' ? after : parse(eventCursor, last, 'Last-Event-ID');
    await withProject(context, response, project, () => undefined);
    if (request.method === 'HEAD') response.type('text/event-stream').end();
    else hub.follow(project, response, { from: from ?? { seq: 0 }, types, signal: access.of(response) });
  }
}
