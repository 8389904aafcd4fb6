import { budgetChange } from '@suzumio/contract/model/budget';
import type { EventType } from '@suzumio/contract/model/event';
import type { Decision } from '@suzumio/contract/model/inbox';
import { projectRow } from '../rows.js';
import { inTime, iso, readPart } from '../sqlite/page.js';
import type { SqlReader } from '../sqlite/sql.js';
import { displayNameOf, type PlaceInCell } from './inbox-items.js';

/** The events by which a person settles what waits. A turn is queued by one only where it is retried. */
const settling = [
  'project.completed',
  'project.changes-requested',
  'agent.reset',
  'budget.changed',
  'project.resumed',
  'agent.resumed',
] as const satisfies readonly EventType[];

interface Row {
  seq: number;
  type: (typeof settling)[number] | 'turn.queued';
  actor: string;
  agent_id: string | null;
  data_json: string;
  created_at_ms: number;
}

export interface Decided {
  place: PlaceInCell;
  entry: Decision;
}

/**
 * What people decided in a project, the newest first.
 *
 * @param before only what is before this place
 * @param looks the most events that are looked at
 * @returns `lookedTo`: the place of the last event that was looked at; undefined where none is before it
 */
export function readDecided(
  reader: SqlReader,
  { before, looks }: { before?: PlaceInCell | undefined; looks: number },
): { decided: Decided[]; lookedTo: PlaceInCell | undefined } {
  const { id: project } = projectRow(reader);
  const other = before !== undefined && before.project !== project;
  // Events of one moment are in the order of their projects.
  const until = other ? before.atMs + (project < before.project ? 1 : 0) : undefined;
  const time = inTime(reader, { table: 'events', column: 'created_at_ms' }, { until });
  const { items, previous } = readPart<Row, Decided>(
    reader,
    {
      from: 'events',
      key: 'events.seq',
      where: time.where,
      filters: [
        `(type IN (SELECT value FROM json_each(:types)) OR (type = 'turn.queued' AND data_json ->> '$.retry' = 1))`,
        `actor <> 'system'`,
      ],
      params: { ...time.params, types: JSON.stringify(settling) },
      looks,
    },
    { limit: looks, order: 'desc', ...(before === undefined || other ? {} : { before: before.seq }) },
    (row) => ({
      place: { atMs: row.created_at_ms, project, seq: row.seq },
      entry: decisionOf(reader, project, row),
    }),
  );
  if (previous === undefined) return { decided: items, lookedTo: undefined };
  const last = reader.get<{ at: number }>('SELECT created_at_ms AS at FROM events WHERE seq = :previous', { previous });
  return { decided: items, lookedTo: { atMs: last?.at ?? 0, project, seq: previous } };
}

/** Fields that another version did not write are null, or nothing. */
function decisionOf(reader: SqlReader, project: string, row: Row): Decision {
  const { seq, type, actor, agent_id: agentId, data_json: json } = row;
  const settled = { id: `${project}:${String(seq)}`, project, at: iso(row.created_at_ms), by: actor };
  const data = JSON.parse(json) as Record<string, unknown>;
  const agent = agentId ?? '';
  const displayName = agentId === null ? null : displayNameOf(reader, agentId);
  const whole = (value: unknown) => (Number.isInteger(value) ? (value as number) : null);
  switch (type) {
    case 'project.completed':
      return { kind: 'approved', ...settled, version: whole(data['version']) };
    case 'project.changes-requested': {
      const recipient = typeof data['recipient'] === 'string' ? data['recipient'] : null;
      const named = recipient === null ? null : displayNameOf(reader, recipient);
      return { kind: 'changes-requested', ...settled, version: whole(data['version']), recipient, displayName: named };
    }
    case 'turn.queued':
      return { kind: 'retried', ...settled, agent, displayName, turnNumber: whole(data['number']) };
    case 'agent.reset': {
      const redelivered = Array.isArray(data['redelivered']) ? data['redelivered'].length : 0;
      return { kind: 'reset', ...settled, agent, displayName, redelivered };
    }
    case 'budget.changed': {
      const limits = budgetChange.safeParse(data).data ?? {};
      return { kind: 'budget-changed', ...settled, agent: agentId, displayName, limits };
    }
    case 'project.resumed':
      return { kind: 'resumed', ...settled, agent: null, displayName };
    case 'agent.resumed':
      return { kind: 'resumed', ...settled, agent: agentId, displayName };
  }
}
