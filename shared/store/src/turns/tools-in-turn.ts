import { agentRow } from '../rows.js';
import type { ConfigVersions } from '../sqlite/configs.js';
import type { SqlReader } from '../sqlite/sql.js';
import { toolNames } from './frozen-input.js';
import { configOfTurn } from './turn-config.js';

/** The tools that an agent may use in a turn: those that it began with, and still has. */
export function toolsInTurn(
  reader: SqlReader,
  configs: ConfigVersions,
  { agent, turn }: { agent: string; turn: string },
): string[] {
  const row = agentRow(reader, agent);
  const now = new Set(toolNames(row, configs.config));
  return toolNames(row, configOfTurn(reader, configs, turn)).filter((tool) => now.has(tool));
}
