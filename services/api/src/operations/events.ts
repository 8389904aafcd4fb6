import type { Request, RequestHandler } from 'express';
import type { EventType } from '@suzumio/contract/model/event';
import type { CellEvent, cellEvents } from '@suzumio/contract/operations/cell-events';
import { eventCursor, type EventCursor, type events } from '@suzumio/contract/operations/events';
import { parse } from '@suzumio/runtime/http/validate';
import { agentRow } from '@suzumio/store/rows';
import { listEvents } from '@suzumio/store/projects/events';
import { cellPage, newestOfCell } from '../events/cell-pages.js';
import { CellWatch } from '../events/cell-watch.js';
import type { EventHub } from '../events/event-hub.js';
import type { StreamOptions } from '../events/stream-follower.js';
import type { OpenAccess } from '../open-access.js';
import type { Cell } from '@suzumio/store/cell/cell';
import { operationFor } from '../operations-at.js';
import type { Runs } from '../routes.js';
import { waitForStatus } from './wait-for-status.js';

/** Routes a request for the list of events to the stream where it accepts one. */
export const streamWhereAccepted: RequestHandler = (request, response, next) => {
  if (['listEvents', 'listCellEvents'].includes(operationFor(request.method, request.path)?.id ?? '')) {
    response.vary('accept');
    if (request.accepts(['json', 'text/event-stream']) === 'text/event-stream') {
      request.url = request.url.replace(/\/events\/?(?=$|\?)/i, '/stream');
    }
  }
  next();
};

export function eventRuns(hub: EventHub, access: OpenAccess): Runs<typeof events> {
  return {
    listEvents: (call) =>
      call.read((reader) => {
        const { agent } = call.query;
        if (agent !== undefined) agentRow(reader, agent);
        return listEvents(reader, call.query);
      }),

    /** On reconnection `Last-Event-ID` says where the client was, and overrides the query. */
    async streamEvents(call) {
      const { request, response } = call;
      const { after, types } = call.query;
      const from = cursorOf(request, after);
      await call.withProject(() => undefined);
      if (request.method === 'HEAD') response.type('text/event-stream').end();
      else {
        const wants = wantsOf({ types });
        hub.follow(call.params.project, response, { from: from ?? { seq: 0 }, wants, signal: access.of(response) });
      }
    },

    waitForStatus: (call) => waitForStatus(call, hub, access),
  };
}

export function cellEventRuns(hub: EventHub, access: OpenAccess): Runs<typeof cellEvents> {
  return {
    async listCellEvents({ context: { cell }, identity, query }) {
      const { after, limit } = query;
      await settled(cell);
      const wants = wantsOf(query, identity.project);
      const { epoch, newest } = cell.catalog.timeline.position();
      if (after === undefined) {
        const items = await newestOfCell(cell, limit, ({ event: { type, agent, project }, labels }) =>
          wants({ type, agent, project, labels }),
        );
        return { items, next: `${epoch}-${newest}` };
      }
      let last = isPast(after, { epoch, newest }) ? after.seq : 0;
      const items: CellEvent[] = [];
      for (let pages = 0; pages < mostPages && items.length < limit && last < newest; pages += 1) {
        const page = await cellPage(cell, last, limit - items.length);
        for (const { told, project, labels } of page.entries) {
          if ('event' in told && wants({ type: told.event.type, agent: told.event.agent, project, labels }))
            items.push(told.event);
        }
        last = page.last;
      }
      return { items, next: `${epoch}-${last}` };
    },

    /** Without a cursor a stream begins now, and says at once where that is. */
    async streamCellEvents(call) {
      const { request, response, query, context, identity } = call;
      const from = cursorOf(request, query.after);
      if (request.method === 'HEAD') {
        response.type('text/event-stream').end();
        return;
      }
      const signal = access.of(response);
      const wants = wantsOf(query, identity.project);
      if (from !== undefined) {
        hub.followCell(response, { from, wants, signal });
        return;
      }
      await settled(context.cell);
      const { timeline } = context.cell.catalog;
      const { epoch, newest: seq } = timeline.position();
      const greeting = `id: ${epoch}-${seq}\nevent: ready\ndata: {}\n\n`;
      hub.followCell(response, { from: { epoch, seq }, wants, greeting, signal });
    },
  };
}

/** Resolves when all that has happened in a cell is in its timeline. */
async function settled(cell: Cell): Promise<void> {
  await new CellWatch(cell).settle();
}

/** The most pages that a list looks through for what is wanted; `next` goes on there. */
const mostPages = 50;

function isPast(cursor: EventCursor, { epoch, newest }: { epoch: number; newest: number }): boolean {
  return (cursor.epoch ?? epoch) === epoch && cursor.seq <= newest;
}

/** On reconnection `Last-Event-ID` says where the client was, and overrides the query. */
function cursorOf(request: Request, after: EventCursor | undefined): EventCursor | undefined {
  const last = request.get('last-event-id');
  return last === undefined || last === '' ? after : parse(eventCursor, last, 'Last-Event-ID');
}

interface Filters {
  types?: readonly EventType[] | undefined;
  agents?: readonly string[] | undefined;
  label?: readonly (readonly [string, string])[] | undefined;
}

/** @param only the project that is shown alone; null where all are */
function wantsOf({ types, agents, label = [] }: Filters, only: string | null = null): StreamOptions['wants'] {
  return ({ type, agent, project, labels }) =>
    (only === null || project === only) &&
    label.every(([key, value]) => labels?.[key] === value) &&
    (type === undefined ||
      ((types?.includes(type) ?? true) && (agents === undefined || (agent !== null && agents.includes(agent)))));
}
