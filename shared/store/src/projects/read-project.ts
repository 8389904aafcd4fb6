import type { Labels } from '@suzumio/contract/model/labels';
import { type ProjectConfig, projectConfig } from '@suzumio/contract/model/project-config';
import type { ProjectView } from '@suzumio/contract/model/project';
import { SuzumioError } from '@suzumio/contract/errors/suzumio-error';
import { nanoPerUsd } from '@suzumio/core/budgets/model-cost';
import type { ProjectStatus } from '@suzumio/contract/model/project-status';
import { hasDueProfileChanges } from '../memory/profile-changes.js';
import { pauseOf, projectRow } from '../rows.js';
import type { SqlReader } from '../sqlite/sql.js';
import { iso } from '../sqlite/page.js';

/** The newest version of the project's resolved file. */
export function readConfig(reader: SqlReader): ProjectConfig {
  const row = reader.get<{ config_json: string }>('SELECT config_json FROM projects');
  if (!row) throw new SuzumioError('store-corrupt', 'The project database has no project in it.');
  return projectConfig.parse(JSON.parse(row.config_json));
}

/** The project with its counts and costs. */
export function readProject(reader: SqlReader): ProjectView {
  const project = projectRow(reader) as ReturnType<typeof projectRow> & { created_at_ms: number; status_at_ms: number };
  const count = (sql: string) => reader.get<{ count: number }>(`SELECT count(*) AS count FROM ${sql}`)?.count ?? 0;
  const report = reader.get<{ version: number; agent: string }>(
    'SELECT version, agent_id AS agent FROM reports ORDER BY version DESC LIMIT 1',
  );
  const firstStart = reader.get<{ at: number }>(
    `SELECT created_at_ms AS at FROM events WHERE type = 'project.started' ORDER BY seq LIMIT 1`,
  );
  return {
    id: project.id,
    status: project.status,
    task: project.task,
    labels: readLabels(reader),
    standingTeam: project.standing_team,
    reportPath: project.report_path,
    reportVersion: report?.version ?? null,
    reportBy: report?.agent ?? null,
    createdAt: iso(project.created_at_ms),
    statusAt: iso(project.status_at_ms),
    startedAt: iso(firstStart?.at ?? null),
    turns: {
      total: count('turns'),
      active: count(`turns WHERE status IN ('queued', 'running')`),
      failed: count(`turns WHERE status = 'failed'`),
    },
    messages: count('messages'),
    artifacts: count('artifacts'),
    ...modelsUsed(reader),
    paused: pauseOf(project),
  };
}

/** Tokens and cost of model calls; where scripts replace models, runners' claims. */
function modelsUsed(reader: SqlReader): { tokens: number; costUsd: number } {
  const row = reader.get<{ thinks: number; tokens: number; nano: number }>(
    `SELECT config_json ->> '$.backend.runner.mode' = 'ai' AS thinks,
       (SELECT coalesce(sum(input_tokens + output_tokens), 0) FROM agent_usage) AS tokens,
       (SELECT coalesce(sum(nano_usd), 0) FROM agent_usage) AS nano FROM projects`,
  );
  if (row?.thinks !== 1) return { tokens: tokensClaimed(reader), costUsd: 0 };
  return { tokens: row.tokens, costUsd: row.nano / nanoPerUsd };
}

/** Tokens that runners claim to have used, as a safe integer whatever they claim. */
function tokensClaimed(reader: SqlReader): number {
  const row = reader.get<{ tokens: number }>(
    `SELECT coalesce(sum(CASE WHEN json_each.type = 'integer' THEN min(max(value, 0), 1000000000) ELSE 0 END), 0) AS tokens
     FROM turns JOIN json_each(usage_json) ON key IN ('inputTokens', 'outputTokens') WHERE usage_json IS NOT NULL`,
  );
  return row?.tokens ?? 0;
}

/** The project's labels. */
export function readLabels(reader: SqlReader): Labels {
  const row = reader.get<{ labels_json: string }>('SELECT labels_json FROM projects');
  return JSON.parse(row?.labels_json ?? '{}') as Labels;
}

/** What the catalog should have of this project. */
export function readEntry(reader: SqlReader) {
  return { ...readStatus(reader), labels: readLabels(reader) };
}

/** The status that the catalog should have of this project. */
export function readStatus(reader: SqlReader): { status: ProjectStatus; settled: boolean } {
  const { status } = projectRow(reader);
  if (status === 'running') return { status, settled: false };
  const active = reader.get(`SELECT 1 FROM turns WHERE status IN ('queued', 'running') LIMIT 1`);
  return { status, settled: active === undefined && !hasDueProfileChanges(reader) };
}
