import { type ProjectConfig, projectConfig } from '../../model/project-config.js';
import type { ProjectView } from '../../model/views.js';
import { SuzumioError } from '../../errors/suzumio-error.js';
import type { ProjectStatus } from '../../model/project-status.js';
import { projectRow } from '../rows.js';
import type { SqlReader } from '../sql.js';
import { iso } from './page.js';

/** The resolved file that the project was made from. */
export function readConfig(reader: SqlReader): ProjectConfig {
  const row = reader.get<{ config_json: string }>('SELECT config_json FROM projects');
  if (!row) throw new SuzumioError('store-corrupt', 'The project database has no project in it.');
  return projectConfig.parse(JSON.parse(row.config_json));
}

/** The project with its figures. */
export function readProject(reader: SqlReader): ProjectView {
  const project = projectRow(reader) as ReturnType<typeof projectRow> & { created_at_ms: number; status_at_ms: number };
  const count = (sql: string) => reader.get<{ count: number }>(`SELECT count(*) AS count FROM ${sql}`)?.count ?? 0;
  const report = reader.get<{ version: number | null }>('SELECT max(version) AS version FROM reports');
  return {
    id: project.id,
    status: project.status,
    task: project.task,
    reportPath: project.report_path,
    reportVersion: report?.version ?? null,
    createdAt: iso(project.created_at_ms),
    statusAt: iso(project.status_at_ms),
    turns: {
      total: count('turns'),
      active: count(`turns WHERE status IN ('queued', 'running')`),
      failed: count(`turns WHERE status = 'failed'`),
    },
    messages: count('messages'),
    artifacts: count('artifacts'),
  };
}

/** What the catalog should say of this project. */
export function readStatus(reader: SqlReader): { status: ProjectStatus; settled: boolean } {
  const { status } = projectRow(reader);
  if (status === 'running') return { status, settled: false };
  const active = reader.get(`SELECT 1 FROM turns WHERE status IN ('queued', 'running') LIMIT 1`);
  return { status, settled: active === undefined };
}

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
