import type { AgentConfig, ProjectConfig } from '../model/project-config.js';
import type { ConfigPath } from './config-node.js';
import { ConfigErrors, type ConfigProblem } from './config-problem.js';
import { configDefaults } from './defaults.js';
import type { LoadedProject } from './load-project.js';
import { describePath } from './schema-problems.js';

/** A field that this version understands and would not keep to. */
export interface UnsupportedField {
  readonly path: ConfigPath;
  readonly message: string;
}

/**
 * The fields of a config that this version does not enforce. A project that has any is not created: what is accepted
 * is kept. A field at its default asks for nothing, so that rendered files, which name every field, pass.
 */
export function unsupportedFields(config: ProjectConfig): UnsupportedField[] {
  const { backend, tools, turn } = config;
  const found: UnsupportedField[] = [];
  const refuse = (refused: boolean, path: ConfigPath, message: string) => {
    if (refused) found.push({ path, message });
  };
  const { docker, runner } = backend;
  refuse(runner.mode === 'ai', ['backend', 'runner', 'mode'], 'agents do not think yet: set backend.runner.mode: mock');
  refuse(runner.model !== undefined, ['backend', 'runner', 'model'], 'models are not used yet: leave it out');
  refuse(runner.models !== undefined, ['backend', 'runner', 'models'], 'models are not used yet: leave it out');
  refuse(
    backend.controllerUrl !== undefined,
    ['backend', 'controllerUrl'],
    'containers have no network yet: leave it out',
  );
  refuse(docker.network !== 'none', ['backend', 'docker', 'network'], 'containers have no network yet: write none');
  refuse(docker.passProviderKeys, ['backend', 'docker', 'passProviderKeys'], 'keys are not passed yet: write false');
  refuse(docker.mounts.length > 0, ['backend', 'docker', 'mounts'], 'directories are not mounted yet: leave it out');
  refuse(docker.runtime !== undefined, ['backend', 'docker', 'runtime'], 'the engine chooses it yet: leave it out');
  refuse(docker.warm !== undefined, ['backend', 'docker', 'warm'], 'containers are not kept warm yet: leave it out');
  tools.toolpacks.forEach((pack, index) => {
    refuse(pack !== 'core', ['tools', 'toolpacks', index], 'only the toolpack core is served yet');
  });
  for (const field of ['maxSteps', 'providerPatience'] as const) {
    const fallback = configDefaults.turn[field];
    refuse(turn[field] !== fallback, ['turn', field], `there are no models to limit yet: leave it out (${fallback})`);
  }
  refuse(config.budget !== undefined, ['budget'], 'nothing is counted against a budget yet: leave it out');
  for (const [id, agent] of Object.entries(config.agents)) {
    for (const [field, message] of unsupportedAgentFields) {
      refuse(agent[field] !== undefined, ['agents', id, field], message);
    }
  }
  return found;
}

const unsupportedAgentFields = [
  ['model', 'models are not used yet: leave it out'],
  ['mounts', 'directories are not mounted yet: leave it out'],
  ['env', 'variables are not set in containers yet: leave it out'],
  ['profile', 'profiles are not registered yet: leave it out'],
  ['team', 'agents have no teams yet: leave it out'],
  ['skills', 'skills are not loaded yet: write the text into the prompt'],
  ['backend', 'all agents use the backend of the project yet: leave it out'],
  ['budget', 'nothing is counted against a budget yet: leave it out'],
] as const satisfies readonly (readonly [keyof AgentConfig, string])[];

/**
 * Refuses a project that asks for what this version does not enforce.
 *
 * @throws {ConfigErrors} `not-supported-yet`, with every such field and its place
 */
export function refuseUnsupported(project: LoadedProject): void {
  // Agents of one counted entry share its place, and one message is enough.
  const problems = new Map<string, ConfigProblem>();
  for (const { path, message } of unsupportedFields(project.config)) {
    const place = project.locate(path);
    const key = `${path.at(-1) ?? ''} ${place.line}:${place.column} ${place.file}`;
    if (problems.has(key)) continue;
    problems.set(key, {
      ...place,
      code: 'not-supported-yet',
      message: `${describePath(path)} is not supported yet: ${message}`,
    });
  }
  if (problems.size > 0) throw new ConfigErrors([...problems.values()], 'not-supported-yet');
}
