import { agentVariables } from '@suzumio/core/config/agent-env';
import { isExternal } from '@suzumio/core/config/sandbox-of';
import type { AgentConfig, ProjectConfig } from '@suzumio/contract/model/project-config';
import type { SqlValue } from '../sqlite/sql.js';
import type { Tx } from '../sqlite/tx.js';

// What the rows of a project repeat of its file: its agents, its channels, and the values of variables, which nothing else has.

/** Adds an agent, which is quiet. */
export function addAgent(
  tx: Tx,
  id: string,
  agent: AgentConfig,
  { position, snapshot }: { position: number; snapshot: string | null },
): void {
  tx.insert('agents', { id, position, ...columnsOf(agent), state: 'quiet', snapshot, state_at_ms: tx.nowMs });
}

/** Gives an agent's row what the file says of it now. */
export function updateAgent(tx: Tx, id: string, agent: AgentConfig, position: number): void {
  const columns = { position, ...columnsOf(agent) };
  const set = Object.keys(columns).map((column) => `${column} = :${column}`);
  tx.run(`UPDATE agents SET ${set.join(', ')} WHERE id = :id`, { id, ...columns });
}

function columnsOf(agent: AgentConfig): Record<string, SqlValue> {
  return {
    base: agent.base,
    role: agent.role,
    display_name: agent.displayName ?? null,
    team: agent.team ?? null,
    prompt: agent.prompt,
    tools_json: JSON.stringify(agent.tools),
    model: agent.model ?? null,
    profile_id: agent.profile ?? null,
    external: isExternal(agent) ? 1 : 0,
  };
}

/** Has the project's channels be these, each with its members. One that is no longer named keeps its mail. */
export function setChannels(tx: Tx, channels: ProjectConfig['channels']): void {
  tx.run('UPDATE channels SET closed = 1');
  tx.run('DELETE FROM channel_members');
  channels.forEach(({ name, members }, position) => {
    tx.run(
      `INSERT INTO channels (name, position) VALUES (:name, :position)
       ON CONFLICT (name) DO UPDATE SET position = :position, closed = 0`,
      { name, position },
    );
    for (const agent_id of members) tx.insert('channel_members', { channel: name, agent_id });
  });
}

/** Stores the values of variables of a version. */
export function addVariables(tx: Tx, config: ProjectConfig, version: number): void {
  for (const { agent, name, value } of agentVariables(config)) {
    tx.insert('agent_env', { version, agent_id: agent, name, value });
  }
}
