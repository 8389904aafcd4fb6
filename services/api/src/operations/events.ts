import type { RequestHandler } from 'express';
import { eventCursor, type events } from '@suzumio/contract/operations/events';
import { parse } from '@suzumio/runtime/http/validate';
import { listEvents } from '@suzumio/store/projects/events';
import type { EventHub } from '../events/event-hub.js';
import type { OpenAccess } from '../open-access.js';
import { operationFor } from '../operations-at.js';
import type { Runs } from '../routes.js';
import { listAnswer } from './list-answer.js';
import { waitForStatus } from './wait-for-status.js';

/** Routes a request for the list of events to the stream where it accepts one. */
export const streamWhereAccepted: RequestHandler = (request, response, next) => {
  if (operationFor(request.method, request.path)?.id === 'listEvents') {
    response.vary('accept');
    if (request.accepts(['json', 'text/event-stream']) === 'text/event-stream') {
      request.url = request.url.replace(/\/events\/?(?=$|\?)/i, '/stream');
    }
  }
  next();
};

export function eventRuns(hub: EventHub, access: OpenAccess): Runs<typeof events> {
  return {
    listEvents: (call) => call.read((reader) => listAnswer(listEvents(reader, call.query))),

    /** On reconnection `Last-Event-ID` says where the client was, and overrides the query. */
    async streamEvents(call) {
      const { request, response } = call;
      const { after, types } = call.query;
      const last = request.get('last-event-id');
      const from = last === undefined || last === '' ? after : parse(eventCursor, last, 'Last-Event-ID');
      await call.withProject(() => undefined);
      if (request.method === 'HEAD') response.type('text/event-stream').end();
      else hub.follow(call.params.project, response, { from: from ?? { seq: 0 }, types, signal: access.of(response) });
    },

    waitForStatus: (call) => waitForStatus(call, hub, access),
  };
}
