import { isDeepStrictEqual } from 'node:util';
import type { ConfigPath } from '../config/config-node.js';
import { ConfigErrors, type ConfigProblem, type Place } from '../config/config-problem.js';
import type { ProjectSource } from '../config/project-source.js';
import { backendOf, isExternal, mountsOf, sandboxOf, workspaceLimitsOf } from '../config/sandbox-of.js';
import { configLimits } from '../config/limits.js';
import type { FileAgentConfig, FileConfig } from '@suzumio/contract/model/project-config';
import type { WorkspaceConfig } from '@suzumio/contract/model/workspace-config';
import { cloneDenials } from './check-clone.js';
import { modelDenial, priceDenial, providerDenial } from './check-provider.js';
import { envDenials, sandboxDenials } from './check-sandbox.js';
import { toolpackDenials } from './check-toolpack.js';
import { type Denial, denial, describeDenial } from './denial.js';
import { type HostPaths, isBelow, isProtected } from './host-paths.js';
import type { Policy } from './policy.js';

/** What of this host's disk a project may be made with, by a directory's path when it is opened. */
export interface AllowedDirectories {
  /** Whether a workspace may be copied from it. */
  readonly mayCopy: (directory: string) => boolean;
  /** Whether a toolpack may be loaded from it. */
  readonly mayLoad: (directory: string) => boolean;
}

/** Facts of the project's cell. */
export interface PolicyCheckOptions {
  /** Whether the cell has a budget for a day: then each model needs a price. */
  readonly dayBudget?: boolean;
  /** A version of the same project that is in force: what a policy denies it is denied to its turns, and not refused again. */
  readonly known?: FileConfig | undefined;
}

/**
 * Everything in a project that a policy does not allow, by the fields of its file: the rules of {@link sandboxDenials}
 * for each agent, and those for the ToolHost's host.
 */
export function projectDenials(
  policy: Policy,
  config: FileConfig,
  host: HostPaths,
  { dayBudget = false }: PolicyCheckOptions = {},
): Denial[] {
  const seen = remembering(host);
  const sandboxes = new Set<string>();
  const agents = Object.entries(config.agents);
  return unique([
    ...agents.flatMap(([id, agent]) => {
      if (isExternal(agent)) return [];
      // Agents of one counted entry have the same settings.
      const asked = JSON.stringify([agent.backend, agent.mounts, agent.env]);
      if (sandboxes.has(asked)) return [];
      sandboxes.add(asked);
      return agentDenials(policy, config, id, agent, seen);
    }),
    ...agents.flatMap(([id, { workspace }]) => workspaceDenials(policy, id, workspace ?? {}, seen)),
    ...turnDenials(policy, config),
    ...providerDenials(policy, config, dayBudget),
    ...toolDenials(policy, config, seen),
  ]);
}

/** Each agent repeats the project's settings, so duplicates are removed. */
function unique(denials: readonly Denial[]): Denial[] {
  return [...new Map(denials.map((denied) => [describeDenial(denied), denied])).values()];
}

/**
 * Refuses a project that a policy does not allow.
 *
 * @throws {ConfigErrors} `policy-denied`, with every such field, its place and the rule that forbids it
 */
export function refuseByPolicy(
  project: ProjectSource,
  policy: Policy,
  host: HostPaths,
  options?: PolicyCheckOptions,
): AllowedDirectories {
  const problems = new Map<string, { problem: ConfigProblem; denied: Denial }>();
  const known = options?.known === undefined ? [] : projectDenials(policy, options.known, host, options);
  const isKnown = new Set(known.map(describeDenial));
  for (const denied of projectDenials(policy, project.config, host, options)) {
    if (isKnown.has(describeDenial(denied))) continue;
    const problem: ConfigProblem = {
      ...project.locate(denied.path),
      code: 'policy-denied',
      message: describeDenial(denied),
      path: denied.field,
    };
    // Agents of one counted entry share its position.
    const key = `${problem.file} ${String(problem.line)}:${String(problem.column)} ${denied.rule} ${denied.message}`;
    if (!problems.has(key)) problems.set(key, { problem, denied });
    if (problems.size >= configLimits.problems) break;
  }
  if (problems.size === 0) {
    return {
      mayCopy: (directory) => mayCopyFrom(policy, directory, host),
      mayLoad: (directory) => toolpackDenials(policy, [], directory, host).length === 0,
    };
  }
  const found = [...problems.values()].sort((a, b) => inOrder(a.problem, b.problem));
  throw new ConfigErrors(
    found.map(({ problem }) => problem),
    'policy-denied',
    { fields: found.map(({ denied }) => denied.field), rules: found.map(({ denied }) => denied.rule) },
  );
}

function inOrder(a: Place, b: Place): number {
  return a.file.localeCompare(b.file) || a.line - b.line || a.column - b.column;
}

function agentDenials(
  policy: Policy,
  config: FileConfig,
  id: string,
  agent: FileAgentConfig,
  host: HostPaths,
): Denial[] {
  const request = {
    backend: backendOf(config, agent),
    sandbox: sandboxOf(config, agent),
    timeoutMs: config.turn.timeout,
    workspaceLimits: workspaceLimitsOf(config),
  };
  const mounts = mountsOf(
    config.backend.docker.mounts.map(({ target }, index) => ({ target, path: ['backend', 'docker', 'mounts', index] })),
    { mounts: (agent.mounts ?? []).map(({ target }, index) => ({ target, path: ['agents', id, 'mounts', index] })) },
  );
  const inFile = ([field, ...rest]: ConfigPath): ConfigPath => {
    if (field === 'backend') return agent.backend === undefined ? ['backend', 'kind'] : ['agents', id, 'backend'];
    if (field === 'image') return ['backend', 'image'];
    if (field === 'timeout') return ['turn', 'timeout'];
    if (field === 'workspaceBytes') return ['workspace', 'maxBytes'];
    if (field === 'workspaceFiles') return ['workspace', 'maxFiles'];
    if (field === 'env') return ['agents', id, 'env', ...rest];
    if (field === 'mounts') return [...(mounts[Number(rest[0])]?.path ?? []), ...rest.slice(1)];
    return ['backend', 'docker', ...(field === undefined ? [] : [field]), ...rest];
  };
  return sandboxDenials(policy, request, host).map(({ path, rule, message }) => denial(inFile(path), rule, message));
}

/** A turn's limits also limit what it can leave in the project's database. */
function turnDenials({ ceilings }: Policy, { turn }: FileConfig): Denial[] {
  return (['maxSteps', 'maxToolCalls'] as const)
    .filter((limit) => turn[limit] > ceilings[limit])
    .map((limit) => {
      const message = `${String(turn[limit])} is more than the ${String(ceilings[limit])} that a turn may have`;
      return denial(['turn', limit], `ceilings.${limit}`, message);
    });
}

function workspaceDenials(policy: Policy, id: string, { from, git }: WorkspaceConfig, host: HostPaths): Denial[] {
  if (git !== undefined) return cloneDenials(policy, ['agents', id, 'workspace', 'git'], git, host);
  if (from === undefined) return [];
  const allowed = mayCopyFrom(policy, from, host);
  const message = `workspaces may not be copied from ${from}`;
  return allowed ? [] : [denial(['agents', id, 'workspace', 'from'], 'workspaces.roots', message)];
}

/** Mountable directories may also be copied: an agent that sees one could copy it itself. */
function mayCopyFrom(policy: Policy, directory: string, host: HostPaths): boolean {
  const roots = [...policy.workspaces.roots, ...policy.mounts.roots.map(({ path }) => path)];
  return isBelow(directory, roots, host) && !isProtected(directory, host);
}

function providerDenials(policy: Policy, { backend }: FileConfig, dayBudget: boolean): Denial[] {
  const at = ['backend', 'runner', 'models'];
  const { providers = {}, presets = {} } = backend.runner.models ?? {};
  const ofProviders = Object.entries(providers).flatMap(([id, provider]) => {
    const denied = providerDenial(policy, provider);
    return denied ? [denial([...at, 'providers', id, denied.field], 'providers', denied.message)] : [];
  });
  const ofModels = Object.entries(presets).flatMap(([id, settings]) => {
    const provider = 'model-list' in settings ? undefined : providers[settings.provider];
    if ('model-list' in settings || provider === undefined || providerDenial(policy, provider)) return [];
    const asked = { settings, provider };
    const message = modelDenial(policy, asked) ?? (dayBudget ? priceDenial(policy, asked) : undefined);
    return message === undefined ? [] : [denial([...at, 'presets', id, 'model'], 'providers.models', message)];
  });
  return [...ofProviders, ...ofModels];
}

function toolDenials(policy: Policy, { tools }: FileConfig, host: HostPaths): Denial[] {
  const { mcpCommands, mcpUrls } = policy.toolpacks;
  return tools.toolpacks.flatMap((pack, index) => {
    const at = ['tools', 'toolpacks', index];
    if (typeof pack === 'string') return [];
    if ('path' in pack) return toolpackDenials(policy, [...at, 'path'], pack.path, host);
    const { command, args = [], env = {}, url } = pack.mcp;
    const denials = envDenials(policy, [...at, 'mcp', 'env'], env);
    if (command !== undefined && !mcpCommands.some((one) => isDeepStrictEqual(one, [command, ...args]))) {
      denials.push(denial([...at, 'mcp', 'command'], 'toolpacks.mcpCommands', 'this command may not be run'));
    }
    if (url !== undefined && !mcpUrls.includes(url)) {
      denials.push(denial([...at, 'mcp', 'url'], 'toolpacks.mcpUrls', `no tools are served from ${url}`));
    }
    return denials;
  });
}

/** A host that looks up each path once. */
function remembering(host: HostPaths): HostPaths {
  const known = new Map<string, ReturnType<HostPaths['lookUp']>>();
  let writable: readonly string[] | undefined;
  return {
    ...host,
    writable: () => (writable ??= host.writable?.() ?? []),
    lookUp: (path) => {
      if (!known.has(path)) known.set(path, host.lookUp(path));
      return known.get(path);
    },
  };
}
