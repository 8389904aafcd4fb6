import type { AgentConfig, ProjectConfig } from '@suzumio/contract/model/project-config';
import type { ConfigPath } from './config-node.js';
import { ConfigErrors, type ConfigProblem } from './config-problem.js';
import { unescapeReferences, variablesIn } from './environment.js';
import { isServedToolpack, servedToolpacks } from '@suzumio/protocol/tool-names';
import { presetOf } from '../budgets/presets.js';
import type { LoadedProject } from './project-source.js';
import { backendOf, isExternal, mountsOf } from './sandbox-of.js';
import { describePath } from './schema-problems.js';

/** A field that this version knows but does not enforce. */
export interface UnsupportedField {
  readonly path: ConfigPath;
  /** What is not enforced, in a sentence. @default the path */
  readonly subject?: string;
  readonly message: string;
  /** Whether the field itself is supported, but something that it needs is missing. */
  readonly missing?: boolean;
}

/**
 * The fields of a config that this version does not or cannot enforce, such as agents without a model. A project with
 * any is not created: what is accepted is enforced. Fields at their default request nothing, so that rendered files,
 * which name every field, pass.
 */
export function unsupportedFields(config: ProjectConfig): UnsupportedField[] {
  const { backend, tools } = config;
  const found: UnsupportedField[] = [];
  const refuse = (refused: boolean, path: ConfigPath, message: string) => {
    if (refused) found.push({ path, message });
  };
  const { docker } = backend;
  const { controllerUrl } = backend;
  refuse(
    controllerUrl !== undefined && docker.network === 'none',
    ['backend', 'controllerUrl'],
    'a container of network none has a door of its own: leave it out, or ask for a network',
  );
  refuse(
    controllerUrl !== undefined && docker.network !== 'none' && !isHttpUrl(controllerUrl),
    ['backend', 'controllerUrl'],
    'write http://host:port, in which every variable has a value',
  );
  refuse(docker.passProviderKeys, ['backend', 'docker', 'passProviderKeys'], 'keys are not passed yet: write false');
  refuse(docker.warm !== undefined, ['backend', 'docker', 'warm'], 'containers are not kept warm yet: leave it out');
  tools.toolpacks.forEach((pack, index) => {
    if (isServedToolpack(pack) || (typeof pack === 'object' && 'path' in pack)) return;
    // Its index says nothing: a file that leaves `core` out has it in front of its own.
    const subject = `tools.toolpacks: the toolpack ${typeof pack === 'string' ? pack : pack.id}`;
    const message = `only ${servedToolpacks.join(', ')} and directories of your own are served yet`;
    found.push({ path: ['tools', 'toolpacks', index], subject, message });
  });
  refuse(
    !config.observability.http.enabled,
    ['observability', 'http', 'enabled'],
    'nothing works without the API yet: leave it out',
  );
  for (const [id, agent] of Object.entries(config.agents)) {
    if (backend.runner.mode === 'ai' && !isExternal(agent) && presetOf(config, id) === undefined) {
      const message = `agent ${id} has no model to think with: name a preset in backend.runner.model, or write mode: mock`;
      found.push({ path: ['agents', id], message, missing: true });
    }
    for (const field of isExternal(agent) ? fieldsOfHosts : []) {
      refuse(agent[field] !== undefined, ['agents', id, field], 'its handler runs where it likes: leave it out');
    }
    refuse(
      config.git?.shared === true && agent.workspace?.depth !== undefined,
      ['agents', id, 'workspace', 'depth'],
      'a repository is shared with its whole history (git.shared): leave it out',
    );
    if (isExternal(agent) || backendOf(config, agent) !== 'process') continue;
    const own = agent.mounts !== undefined && agent.mounts.length > 0;
    refuse(
      mountsOf(docker.mounts, agent).length > 0,
      own ? ['agents', id, 'mounts'] : ['backend', 'docker', 'mounts'],
      `nothing is mounted for a process: write mounts at the agents that run in containers`,
    );
  }
  return found;
}

/** Fields about the host of turns, which an external agent does not have. */
const fieldsOfHosts = ['mounts', 'env', 'workspace'] as const satisfies readonly (keyof AgentConfig)[];

/** Whether a text in the file's notation is an HTTP URL. */
function isHttpUrl(text: string): boolean {
  return variablesIn(text).length === 0 && /^https?:$/.test(URL.parse(unescapeReferences(text))?.protocol ?? '');
}

/**
 * Refuses a project with fields that this version does not enforce.
 *
 * @throws {ConfigErrors} `not-supported-yet` with every such field and its place; `invalid-config` where only models
 *   are missing
 */
export function refuseUnsupported(project: LoadedProject): void {
  // Agents of one counted entry share its position, and one message is enough.
  const problems = new Map<string, ConfigProblem>();
  for (const { path, subject = describePath(path), message, missing = false } of unsupportedFields(project.config)) {
    const place = project.locate(path);
    const key = `${path.at(-1) ?? ''} ${place.line}:${place.column} ${place.file}`;
    if (problems.has(key)) continue;
    problems.set(
      key,
      missing
        ? { ...place, code: 'model-missing', message }
        : {
            ...place,
            code: 'not-supported-yet',
            message: `${subject} is not supported yet: ${message}`,
          },
    );
  }
  if (problems.size === 0) return;
  const all = [...problems.values()];
  const missing = all.every(({ code }) => code === 'model-missing');
  throw new ConfigErrors(all, missing ? 'invalid-config' : 'not-supported-yet');
}
