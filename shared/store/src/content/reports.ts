import type { ReportView } from '@suzumio/contract/model/report';
import type { SqlReader } from '../sqlite/sql.js';
import { iso, type Page, type Part, readPart } from '../sqlite/page.js';

export interface ReportRow {
  version: number;
  path: string;
  agent: string;
  turn: string;
  createdAt: string;
}

/** The reports, oldest first. */
export function listReports(reader: SqlReader): ReportRow[] {
  return reader
    .all<{ version: number; path: string; agent_id: string; turn_id: string; created_at_ms: number }>(
      'SELECT * FROM reports ORDER BY version',
    )
    .map((row) => ({
      version: row.version,
      path: row.path,
      agent: row.agent_id,
      turn: row.turn_id,
      createdAt: iso(row.created_at_ms),
    }));
}

/** A page of the versions of the report, each with what was decided on it last. */
export function readReports(reader: SqlReader, page: Page): Part<ReportView> {
  const decisions = newestDecisions(reader);
  return readPart<{ version: number; agent_id: string; number: number; created_at_ms: number }, ReportView>(
    reader,
    {
      from: 'reports JOIN turns ON turns.id = turn_id',
      columns: 'version, reports.agent_id, turns.number, reports.created_at_ms',
      key: 'version',
    },
    page,
    (row) => ({
      version: row.version,
      agent: row.agent_id,
      turnNumber: row.number,
      createdAt: iso(row.created_at_ms),
      decision: decisions.get(row.version) ?? null,
    }),
  );
}

/** The most decisions that are looked at, the newest of them. */
const mostDecisions = 5_000;

/** By version. Events of earlier releases that do not say which version they decide on are left out. */
function newestDecisions(reader: SqlReader): Map<number, NonNullable<ReportView['decision']>> {
  const events = reader.all<{ type: string; actor: string; version: number | null; created_at_ms: number }>(
    `SELECT type, actor, data_json ->> '$.version' AS version, created_at_ms FROM events
     WHERE type IN ('project.completed', 'project.changes-requested') ORDER BY seq DESC LIMIT :most`,
    { most: mostDecisions },
  );
  const decisions = new Map<number, NonNullable<ReportView['decision']>>();
  for (const { type, actor, version, created_at_ms: atMs } of events.reverse()) {
    const kind = type === 'project.completed' ? 'approved' : 'changes-requested';
    if (version !== null) decisions.set(version, { kind, by: actor, at: iso(atMs) });
  }
  return decisions;
}
