import type { AgentConfig, FileAgentConfig, FileConfig } from '@suzumio/contract/model/project-config';
import { branchOf } from '@suzumio/contract/model/workspace-config';
import type { ClaimAnswer, SandboxLimits } from '@suzumio/protocol/attempts';
import type { CloneRequest } from '@suzumio/protocol/repository';
import type { SharedRepository } from '@suzumio/protocol/shared-repository';
import { usualWorkspaceLimits, type WorkspaceLimits } from '@suzumio/protocol/workspace-manifest';
import { unescapeReferences } from './environment.js';

/** Whether a handler runs an agent's turns. */
export function isExternal({ backend }: Pick<AgentConfig, 'backend'>): boolean {
  return backend === 'external';
}

/** The backend of an agent's turns: its own, else the project's. */
export function backendOf({ backend }: FileConfig, agent: Pick<AgentConfig, 'backend'>): ClaimAnswer['backend'] {
  if (agent.backend === 'external') throw new Error('turns of external agents run in no backend');
  return agent.backend ?? backend.kind;
}

/** The settings and limits of an agent's containers. */
export function sandboxOf(config: FileConfig, agent: FileAgentConfig): SandboxLimits {
  const { image, controllerUrl, docker } = config.backend;
  return {
    image,
    network: docker.network,
    ...(controllerUrl === undefined ? {} : { controllerUrl: unescapeReferences(controllerUrl) }),
    mounts: mountedFor(config, agent).map(({ source, target, readonly }) => ({ source, target, readonly })),
    env: { ...agent.env },
    ...(docker.runtime === undefined ? {} : { runtime: docker.runtime }),
    memoryBytes: docker.memory,
    cpus: docker.cpus,
    pids: docker.pids,
    ...(docker.user === undefined ? {} : { user: withGroup(docker.user) }),
    readOnlyRoot: docker.readOnlyRoot,
    tmpfs: docker.tmpfs,
    keep: docker.keep,
    keepForMs: docker.keepFor,
  };
}

/** What an agent's turns have mounted: nothing, where they run as processes. */
export function mountedFor(config: FileConfig, agent: FileAgentConfig): FileConfig['backend']['docker']['mounts'] {
  return backendOf(config, agent) === 'docker' ? mountsOf(config.backend.docker.mounts, agent) : [];
}

/** An agent's mounts: the project's, and its own, which replace those with the same target. */
export function mountsOf<Mount extends { readonly target: string }>(
  shared: readonly Mount[],
  { mounts: own = [] }: { readonly mounts?: readonly Mount[] },
): Mount[] {
  return [...shared.filter(({ target }) => own.every((mount) => mount.target !== target)), ...own];
}

/** The engine gives a user without a group that of root. */
function withGroup(user: string): string {
  return user.includes(':') ? user : `${user}:${user}`;
}

/** What each of a project's workspaces may have. */
export function workspaceLimitsOf({ workspace: { maxBytes, maxFiles } = {} }: FileConfig): WorkspaceLimits {
  const usual = usualWorkspaceLimits;
  return { maxBytes: maxBytes ?? usual.maxBytes, maxFiles: maxFiles ?? usual.maxFiles };
}

/** The repository that an agent shares with others; undefined where there is none, or it has no sandbox to use it from. */
export function sharedOf({ agents, git }: FileConfig, id: string): SharedRepository | undefined {
  const agent = agents[id];
  if (git?.shared !== true || agent === undefined || isExternal(agent)) return undefined;
  return { branch: branchOf(agent.workspace?.branch, id), maintains: git.maintainers?.includes(id) ?? false };
}

/** The repository that an agent's new workspace is a clone of; undefined where it is none. */
export function cloneOf({ agents, git: settings }: FileConfig, id: string): CloneRequest | undefined {
  const { git, ref, depth, branch } = agents[id]?.workspace ?? {};
  if (git === undefined) return undefined;
  return {
    git,
    ...(ref === undefined ? {} : { ref }),
    ...(depth === undefined ? {} : { depth }),
    ...(settings?.lfs === 'pointers' ? { lfs: settings.lfs } : {}),
    ...(settings?.submodules === 'skip' ? { submodules: settings.submodules } : {}),
    branch: branchOf(branch, id),
  };
}
