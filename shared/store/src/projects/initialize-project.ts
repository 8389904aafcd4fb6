import { agentVariables, withoutEnvValues } from '@suzumio/core/config/agent-env';
import { isExternal } from '@suzumio/core/config/sandbox-of';
import type { Labels } from '@suzumio/contract/model/labels';
import type { ProjectConfig } from '@suzumio/contract/model/project-config';
import type { FilePlace } from './file-place.js';
import type { Tx } from '../sqlite/tx.js';

/** Writes a new project's rows: the project, its roster and its channels. */
export function initializeProject(
  tx: Tx,
  project: {
    config: ProjectConfig;
    actor: string;
    labels: Labels;
    standingTeam?: string | undefined;
    epoch: number;
    place: FilePlace;
    snapshots: ReadonlyMap<string, string>;
  },
): void {
  const { config } = project;
  tx.insert('projects', {
    id: config.name,
    status: 'initialized',
    task: config.task,
    config_json: JSON.stringify(withoutEnvValues(config)),
    labels_json: JSON.stringify(project.labels),
    epoch: project.epoch,
    place_json: JSON.stringify(project.place),
    standing_team: project.standingTeam ?? null,
    created_at_ms: tx.nowMs,
    status_at_ms: tx.nowMs,
  });
  Object.entries(config.agents).forEach(([id, agent], position) => {
    tx.insert('agents', {
      id,
      position,
      base: agent.base,
      role: agent.role,
      display_name: agent.displayName ?? null,
      team: agent.team ?? null,
      prompt: agent.prompt,
      tools_json: JSON.stringify(agent.tools),
      model: agent.model ?? null,
      profile_id: agent.profile ?? null,
      external: isExternal(agent) ? 1 : 0,
      state: 'quiet',
      snapshot: project.snapshots.get(id) ?? null,
      state_at_ms: tx.nowMs,
    });
  });
  for (const { agent, name, value } of agentVariables(config)) {
    tx.insert('agent_env', { agent_id: agent, name, value });
  }
  config.channels.forEach(({ name, members }, position) => {
    tx.insert('channels', { name, position });
    for (const agent_id of members) tx.insert('channel_members', { channel: name, agent_id });
  });
  tx.emit({
    type: 'project.initialized',
    actor: project.actor,
    data: { agents: Object.keys(config.agents), channels: config.channels.map(({ name }) => name) },
  });
}
