import { withoutEnvValues } from '@suzumio/core/config/agent-env';
import type { LivingFacts } from '@suzumio/core/config/compare-configs';
import type { ConfigVersionView } from '@suzumio/contract/model/config-version';
import type { AgentConfig, ProjectConfig } from '@suzumio/contract/model/project-config';
import { type ConfigVersions, hasVersions, unknownVersion } from '../sqlite/configs.js';
import { iso, type Page, type Part, readPart } from '../sqlite/page.js';
import type { SqlReader } from '../sqlite/sql.js';
import type { Tx } from '../sqlite/tx.js';
import { readAgentEnv } from './agents.js';

/** How many of the fields that a version changed are named with it. */
const mostNamed = 20;

interface VersionRow {
  number: number;
  reverts: number | null;
  actor: string;
  created_at_ms: number;
  changes: number;
  changed_json: string;
}

/** Writes a version of the project's file. */
export function addVersion(
  tx: Tx,
  version: {
    number: number;
    config: ProjectConfig;
    /** The version whose values of variables it has. */
    envVersion: number;
    actor: string;
    reverts?: number | undefined;
    changed: readonly string[];
    source: string | null;
  },
): void {
  tx.insert('config_versions', {
    number: version.number,
    mark: tx.newId('cfg'),
    env_version: version.envVersion,
    message_seq: tx.get<{ seq: number }>('SELECT coalesce(max(seq), 0) AS seq FROM messages')?.seq ?? 0,
    reverts: version.reverts ?? null,
    actor: version.actor,
    created_at_ms: tx.nowMs,
    changes: version.changed.length,
    changed_json: JSON.stringify(version.changed.slice(0, mostNamed)),
    config_json: JSON.stringify(withoutEnvValues(version.config)),
    source: version.source,
  });
}

/** The versions of the project's file, by number. */
export function listVersions(reader: SqlReader, page: Page): Part<ConfigVersionView> {
  if (!hasVersions(reader)) return { items: [firstOf(reader)] };
  return readPart<VersionRow, ConfigVersionView>(
    reader,
    {
      from: 'config_versions',
      columns: 'number, reverts, actor, created_at_ms, changes, changed_json',
      key: 'number',
    },
    page,
    viewOf,
  );
}

/** @throws SuzumioError `config-version-unknown` */
export function readVersion(reader: SqlReader, version: number): ConfigVersionView {
  if (!hasVersions(reader) && version === 1) return firstOf(reader);
  const row = hasVersions(reader)
    ? reader.get<VersionRow>(
        'SELECT number, reverts, actor, created_at_ms, changes, changed_json FROM config_versions WHERE number = :version',
        { version },
      )
    : undefined;
  if (!row) throw unknownVersion(reader, version);
  return viewOf(row);
}

/** A database of before that is only read has the first alone. */
function firstOf(reader: SqlReader): ConfigVersionView {
  const row = reader.get<{ at: number }>('SELECT created_at_ms AS at FROM projects');
  return { version: 1, at: iso(row?.at ?? 0), by: 'system', reverts: null, changes: 0, changed: [] };
}

function viewOf({ number, reverts, actor, created_at_ms, changes, changed_json }: VersionRow): ConfigVersionView {
  const changed = JSON.parse(changed_json) as string[];
  return { version: number, at: iso(created_at_ms), by: actor, reverts, changes, changed };
}

/** The text of a version's file; null for the first, which is a file beside the database. */
export function sourceOf(reader: SqlReader, version: number): string | null {
  if (!hasVersions(reader)) return null;
  const sql = 'SELECT source FROM config_versions WHERE number = :version';
  return reader.get<{ source: string | null }>(sql, { version })?.source ?? null;
}

/** A version of the project's file with the values of its agents' variables. */
export function withVariables(reader: SqlReader, configs: ConfigVersions, version: number): ProjectConfig {
  const config = configs.configAt(version);
  const agents = Object.entries(config.agents).map(([id, agent]): [string, AgentConfig] => [
    id,
    agent.env === undefined ? agent : { ...agent, env: readAgentEnv(reader, id, version) },
  ]);
  return { ...config, agents: Object.fromEntries(agents) };
}

/** What a new version of the project's file is for. */
export function livingFacts(reader: SqlReader): LivingFacts {
  const retired = reader.all<{ id: string; agent: string }>(
    `SELECT agents.id, config_json -> ('$.agents."' || agents.id || '"') AS agent
     FROM agents JOIN config_versions ON number = retired_version - 1 WHERE retired_version IS NOT NULL`,
  );
  const withoutFiles = reader.all<{ id: string }>(
    `SELECT id FROM agents
     WHERE snapshot IS NULL AND state <> 'running' AND id NOT IN (SELECT agent_id FROM workspace_bases)`,
  );
  return {
    former: Object.fromEntries(retired.map(({ id, agent }) => [id, JSON.parse(agent) as AgentConfig])),
    withoutFiles: new Set(withoutFiles.map(({ id }) => id)),
  };
}
