import { resolve } from 'node:path';
import type * as z from 'zod';
import type { FileAgentConfig, FileConfig, mountConfig, ProjectConfig } from '@suzumio/contract/model/project-config';
import { isGitUrl, type WorkspaceConfig } from '@suzumio/contract/model/workspace-config';
import { idsOfEntry } from './agent-ids.js';
import { configDefaults, programDefaults } from './defaults.js';
import type { SourceAgent, SourceConfig } from './source-schema.js';

/**
 * Completes a project file: fills in defaults, expands counted agents, lists members of channels, makes host paths
 * absolute.
 *
 * @param directory the base of relative paths
 */
export function completeConfig(source: SourceConfig, directory: string): FileConfig {
  const agents: Record<string, FileAgentConfig> = {};
  const idsOfEntry = new Map<string, string[]>();
  for (const [base, agent] of Object.entries(source.agents)) {
    const expanded = expandAgent(base, agent, directory);
    idsOfEntry.set(
      base,
      expanded.map(([id]) => id),
    );
    for (const [id, config] of expanded) agents[id] = config;
  }
  const everyone = Object.keys(agents);
  const toolpacks = completeToolpacks(source.tools?.toolpacks, directory);
  const { timeout, memory } = programDefaults;
  const runsPrograms = toolpacks.includes('shell');
  return {
    rendered: 1,
    name: source.name,
    task: source.task,
    channels: (source.channels ?? configDefaults.channels).map((channel) => {
      if (typeof channel === 'string') return { name: channel, members: everyone };
      const members = channel.members?.flatMap((member) => idsOfEntry.get(member) ?? [member]);
      return { name: channel.name, members: [...new Set(members ?? everyone)] };
    }),
    scheduler: withDefaults(configDefaults.scheduler, source.scheduler),
    backend: completeBackend(source.backend, directory, runsPrograms ? { memory } : {}),
    agents,
    tools: { toolpacks },
    turn: withDefaults({ ...configDefaults.turn, ...(runsPrograms ? { timeout } : {}) }, source.turn),
    ...(source.budget && { budget: source.budget }),
    ...(source.protection && { protection: source.protection }),
    ...(Object.keys(source.communication ?? {}).length > 0 && { communication: source.communication }),
    ...(source.workspace && { workspace: source.workspace }),
    ...(source.git && { git: completeGit(source.git, idsOfEntry) }),
    observability: {
      http: withDefaults(configDefaults.observability.http, source.observability?.http),
      webui: withDefaults(configDefaults.observability.webui, source.observability?.webui),
    },
  };
}

/** A counted agent's entry stands for all of its agents. */
function completeGit(
  { shared = false, maintainers, ...others }: NonNullable<SourceConfig['git']>,
  idsOfEntry: ReadonlyMap<string, string[]>,
): NonNullable<ProjectConfig['git']> {
  const ids = maintainers?.flatMap((agent) => idsOfEntry.get(agent) ?? [agent]);
  return { shared, ...others, ...(ids && { maintainers: [...new Set(ids)] }) };
}

function expandAgent(base: string, source: SourceAgent, directory: string): [string, FileAgentConfig][] {
  const { count, names, tools, mounts, workspace, ...rest } = source;
  const config: FileAgentConfig = {
    base,
    // A profile gives what the file leaves out.
    ...(rest.profile === undefined ? { role: base, prompt: '' } : {}),
    ...rest,
    tools: tools ?? [],
    ...(mounts && { mounts: completeMounts(mounts, directory) }),
    ...(workspace && { workspace: completeWorkspace(workspace, directory) }),
  };
  return idsOfEntry(base, count).map((id, index) => {
    const displayName = names?.[index];
    return [id, displayName === undefined ? config : { ...config, displayName }];
  });
}

function completeWorkspace(source: WorkspaceConfig, directory: string): WorkspaceConfig {
  const { from, git } = source;
  return {
    ...source,
    ...(from !== undefined && { from: resolve(directory, from) }),
    ...(git !== undefined && { git: isGitUrl(git) ? git : resolve(directory, git) }),
  };
}

function completeBackend(
  source: SourceConfig['backend'],
  directory: string,
  dockerDefaults: { readonly memory?: number },
): ProjectConfig['backend'] {
  const { kind, docker, runner, ...rest } = source ?? {};
  const { mounts, ...dockerRest } = docker ?? {};
  const { models, ...runnerRest } = runner ?? {};
  const defaults = configDefaults.backend;
  return {
    ...withDefaults(defaults, rest),
    kind: kind ?? defaults.kind,
    docker: {
      ...withDefaults({ ...defaults.docker, ...dockerDefaults }, dockerRest),
      mounts: completeMounts(mounts ?? [], directory),
    },
    runner: {
      ...withDefaults(defaults.runner, runnerRest),
      ...(models && { models: { providers: models.providers ?? {}, presets: models.presets ?? {} } }),
    },
  };
}

type Mount = z.infer<typeof mountConfig>;

/** Mounts are read-only by default. */
function completeMounts(
  mounts: readonly (Omit<Mount, 'readonly'> & { readonly readonly?: boolean | undefined })[],
  directory: string,
): Mount[] {
  return mounts.map((mount) => ({
    ...mount,
    source: resolve(directory, mount.source),
    readonly: mount.readonly ?? true,
  }));
}

type Toolpack = FileConfig['tools']['toolpacks'][number];

/** The core pack is always included: without it an agent could not even answer. */
function completeToolpacks(source: readonly Toolpack[] | undefined, directory: string): Toolpack[] {
  const packs = (source ?? configDefaults.tools.toolpacks).map((pack) =>
    typeof pack === 'object' && 'path' in pack ? { ...pack, path: resolve(directory, pack.path) } : pack,
  );
  return packs.includes('core') ? packs : ['core', ...packs];
}

/** `defaults` overridden by the given fields. */
function withDefaults<Section extends object>(
  defaults: Section,
  given: { readonly [Key in keyof Section]?: Section[Key] | undefined } | undefined,
): Section {
  return { ...defaults, ...given };
}
