import type { EventType, ProjectEvent } from '@suzumio/contract/model/event';
import { projectRow } from '../rows.js';
import type { SqlReader } from '../sqlite/sql.js';
import { iso, type Page } from '../sqlite/page.js';

interface Row {
  seq: number;
  type: EventType;
  actor: string;
  agent_id: string | null;
  turn_id: string | null;
  data_json: string;
  created_at_ms: number;
}

/** A page of the timeline. */
export interface EventsPage extends Page {
  /** Only events of these types. @default all */
  types?: readonly EventType[] | undefined;
  /** The last number. @default the newest */
  upTo?: number;
}

/** The timeline, in order. Commits are ordered, so a reader never sees a gap that is filled later. */
export function listEvents(reader: SqlReader, page: EventsPage): ProjectEvent[] {
  const { epoch } = projectRow(reader);
  const ofTypes = page.types ? 'type IN (SELECT value FROM json_each(:types))' : 'true';
  const params = {
    limit: page.limit,
    upTo: page.upTo ?? Number.MAX_SAFE_INTEGER,
    ...(page.types ? { types: JSON.stringify(page.types) } : {}),
  };
  const rows =
    page.after === undefined
      ? reader
          .all<Row>(`SELECT * FROM events WHERE seq <= :upTo AND ${ofTypes} ORDER BY seq DESC LIMIT :limit`, params)
          .reverse()
      : reader.all<Row>(
          `SELECT * FROM events WHERE seq > :after AND seq <= :upTo AND ${ofTypes} ORDER BY seq LIMIT :limit`,
          {
            ...params,
            after: page.after,
          },
        );
  return rows.map((row) => eventOf(row, epoch));
}

/** What another version wrote is passed on as it is. */
function eventOf(row: Row, epoch: number): ProjectEvent {
  return {
    id: `${String(epoch)}-${String(row.seq)}`,
    seq: row.seq,
    type: row.type,
    actor: row.actor,
    agent: row.agent_id,
    turn: row.turn_id,
    data: JSON.parse(row.data_json) as unknown,
    createdAt: iso(row.created_at_ms),
  } as ProjectEvent;
}

/** The end of the timeline: its epoch and newest number. */
export function eventPosition(reader: SqlReader): { epoch: number; seq: number } {
  const newest = reader.get<{ seq: number }>('SELECT coalesce(max(seq), 0) AS seq FROM events');
  return { epoch: projectRow(reader).epoch, seq: newest?.seq ?? 0 };
}

/** The same, and when that was. */
export function newestEvent(reader: SqlReader): { epoch: number; seq: number; newestMs: number } {
  const row = reader.get<{ ms: number }>('SELECT created_at_ms AS ms FROM events ORDER BY seq DESC LIMIT 1');
  return { ...eventPosition(reader), newestMs: row?.ms ?? 0 };
}
