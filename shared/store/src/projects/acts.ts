import { actEvents, type ActView } from '@suzumio/contract/model/acts';
import { projectRow } from '../rows.js';
import type { SqlReader } from '../sqlite/sql.js';
import { listEvents } from './events.js';
import type { PlaceInCell } from './inbox-items.js';

/** Something that somebody did, and its place among what was done in all projects. */
export interface ActEntry {
  place: PlaceInCell;
  act: ActView;
}

/** Acts, and the place up to which they are all known, where that is not the beginning. */
export interface FoundActs {
  entries: ActEntry[];
  knownFrom?: PlaceInCell | undefined;
}

/** What people did to a project, the newest first: at most `limit` of it before a place, in a bounded part of its events. */
export function readActs(
  reader: SqlReader,
  { limit, before, actor }: { limit: number; before?: PlaceInCell | undefined; actor?: string | undefined },
): FoundActs {
  const { id: project } = projectRow(reader);
  const { items, previous } = listEvents(reader, {
    limit,
    order: 'desc',
    types: actEvents,
    byPeople: true,
    actor,
    ...(before && boundOf(project, before)),
  });
  const entries = items.map(({ type, actor: by, agent, turn, data, createdAt, seq }): ActEntry => ({
    place: { atMs: Date.parse(createdAt), project, seq },
    act: { at: createdAt, actor: by, type, project, subject: agent, turn, data: { ...data } },
  }));
  return { entries, knownFrom: previous === undefined ? undefined : placeAt(reader, project, previous) };
}

/** What was done in one moment is in the order of the projects. */
function boundOf(project: string, { atMs, project: other, seq }: PlaceInCell): { before: number } | { until: number } {
  return project === other ? { before: seq } : { until: project < other ? atMs + 1 : atMs };
}

function placeAt(reader: SqlReader, project: string, seq: number): PlaceInCell {
  const row = reader.get<{ seq: number; atMs: number }>(
    'SELECT seq, created_at_ms AS atMs FROM events WHERE seq >= :seq ORDER BY seq LIMIT 1',
    { seq },
  );
  return { atMs: row?.atMs ?? 0, project, seq: row?.seq ?? seq };
}
