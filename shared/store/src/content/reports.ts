import type { SqlReader } from '../sqlite/sql.js';
import { iso } from '../sqlite/page.js';

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
