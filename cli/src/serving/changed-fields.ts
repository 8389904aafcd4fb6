import { isDeepStrictEqual } from 'node:util';
import type { FileConfig } from '@suzumio/contract/model/project-config';
import { withoutTaken } from '@suzumio/core/config/local-toolpacks';
import { readAgentEnv } from '@suzumio/store/projects/agents';
import { readConfig } from '@suzumio/store/projects/read-project';
import type { SqlReader } from '@suzumio/store/sqlite/sql';

/** What a project was made with, the values of its agents' variables among it. */
export function madeWith(reader: SqlReader): FileConfig {
  const config = readConfig(reader);
  const agents = Object.entries(config.agents).map(([id, agent]) => [
    id,
    agent.env === undefined ? agent : { ...agent, env: readAgentEnv(reader, id) },
  ]);
  return { ...withoutTaken(config), agents: Object.fromEntries(agents) as FileConfig['agents'] };
}

/** The fields in which two versions of a project file differ, by their paths; what only one of them has is one field. */
export function changedFields(before: FileConfig, after: FileConfig): string[] {
  return differences(before, after, []).sort();
}

function differences(before: unknown, after: unknown, path: readonly string[]): string[] {
  if (isDeepStrictEqual(before, after)) return [];
  if (!isMap(before) || !isMap(after)) return [path.join('.')];
  const keys = new Set([...Object.keys(before), ...Object.keys(after)]);
  return [...keys].flatMap((key) => differences(before[key], after[key], [...path, key]));
}

function isMap(value: unknown): value is Record<string, unknown> {
  return typeof value === 'object' && value !== null && !Array.isArray(value);
}
