import { withoutEnvValues } from '@suzumio/core/config/agent-env';
import type { Labels } from '@suzumio/contract/model/labels';
import type { ProjectConfig } from '@suzumio/contract/model/project-config';
import { addVersion } from './config-versions.js';
import type { FilePlace } from './file-place.js';
import { addAgent, addVariables, setChannels } from './roster.js';
import type { Tx } from '../sqlite/tx.js';

/** Writes a new project's rows: the project, its roster, its channels, and the first version of its file. */
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
    addAgent(tx, id, agent, { position, snapshot: project.snapshots.get(id) ?? null });
  });
  setChannels(tx, config.channels);
  addVersion(tx, { number: 1, config, envVersion: 1, actor: project.actor, changed: [], source: null });
  addVariables(tx, config, 1);
  tx.emit({
    type: 'project.initialized',
    actor: project.actor,
    data: { agents: Object.keys(config.agents), channels: config.channels.map(({ name }) => name) },
  });
}
