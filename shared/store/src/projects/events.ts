import type { EventType, ProjectEvent } from '@suzumio/contract/model/event';
import { SYSTEM_ID } from '@suzumio/contract/model/project-config';
import { projectRow } from '../rows.js';
import type { SqlReader } from '../sqlite/sql.js';
import { definedOf, inTime, iso, type Page, type Part, readPart } from '../sqlite/page.js';

interface Row {
  seq: number;
  type: EventType;
  actor: string;
  agent_id: string | null;
  turn_id: string | null;
  data_json: string;
  created_at_ms: number;
}

/** Which part of the timeline is wanted: the events of which all of this holds. */
export interface EventsPage extends Page {
  /** Only events of these types. @default all */
  types?: readonly EventType[] | undefined;
  agent?: string | undefined;
  /** Who brought it about. */
  actor?: string | undefined;
  /** Whether what the system did by itself is left out, and what agents have pushed, noted and erased. */
  byPeople?: boolean | undefined;
  since?: number | undefined;
  until?: number | undefined;
}

/** The timeline, in order. Commits are ordered, so a reader never sees a gap that is filled later. */
export function listEvents(reader: SqlReader, page: EventsPage): Part<ProjectEvent> {
  const { epoch } = projectRow(reader);
  const { agent, actor } = page;
  const time = inTime(reader, { table: 'events', column: 'created_at_ms' }, page);
  const types = page.types && [...new Set(page.types)];
  return readPart<Row, ProjectEvent>(
    reader,
    {
      from: 'events',
      key: 'events.seq',
      where: time.where,
      filters: [
        types && 'type IN (SELECT value FROM json_each(:types))',
        agent === undefined ? undefined : 'agent_id = :agent',
        actor === undefined ? undefined : 'actor = :actor',
        page.byPeople === true
          ? `actor <> '${SYSTEM_ID}' AND NOT (type = 'git.pushed' AND agent_id IS NOT NULL)
             AND NOT (type IN ('memory.noted', 'memory.forgotten') AND turn_id IS NOT NULL)`
          : undefined,
      ],
      params: { ...time.params, ...definedOf({ agent, actor, types: types && JSON.stringify(types) }) },
    },
    page,
    (row) => eventOf(row, epoch),
  );
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
