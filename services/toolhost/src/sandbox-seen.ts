import { toolpackOf } from '@suzumio/core/config/local-toolpacks';
import { backendOf, sandboxOf, workspaceLimitsOf } from '@suzumio/core/config/sandbox-of';
import type { ProjectConfig } from '@suzumio/contract/model/project-config';
import type { SandboxRequest } from '@suzumio/core/policy/check-sandbox';
import type { WorkspaceTop } from '@suzumio/core/prompt/workspace';
import type { ClaimRequest, MeasuredMount } from '@suzumio/protocol/attempts';
import { ownArtifacts } from '@suzumio/protocol/own-artifacts';
import { sandboxPacksOf } from '@suzumio/protocol/tool-names';
import { topOf } from '@suzumio/protocol/workspace-snapshot';
import type { ProjectStore } from '@suzumio/store/projects/project-store';
import { type AgentRow, agentRow, type TurnRow, unknownAgent } from '@suzumio/store/rows';
import type { SqlReader } from '@suzumio/store/sqlite/sql';
import { toolNames } from '@suzumio/store/turns/frozen-input';
import type { SandboxSeen } from '@suzumio/store/turns/prepare-turn';
import { dueClone } from '@suzumio/store/turns/workspace-base';
import { contentOf } from './content.js';
import type { ToolhostContext } from './context.js';

/** The longest manifest that is read for a prompt: some two thousand entries, a few milliseconds. */
const maxManifestBytes = 256 * 1024;

/**
 * What an agent's turns request of their host.
 *
 * @throws SuzumioError `agent-unknown` where it was retired meanwhile
 */
export function sandboxRequest(reader: SqlReader, config: ProjectConfig, id: string): SandboxRequest {
  const agent = config.agents[id] ?? unknownAgent(reader, id);
  const clone = dueClone(reader, config, id);
  return {
    backend: backendOf(config, agent),
    sandbox: sandboxOf(config, agent),
    timeoutMs: config.turn.timeout,
    workspaceLimits: workspaceLimitsOf(config),
    ...(clone ? { clone } : {}),
  };
}

/** What a worker is to measure before its claim is granted: mounts that a prompt is about to tell of. */
export function toMeasure(
  store: ProjectStore,
  { status, input_json: input, agent_id: agent }: TurnRow,
  { mounts }: Pick<ClaimRequest, 'mounts'>,
): SandboxRequest | undefined {
  if (mounts !== 'unmeasured') return undefined;
  if (status !== 'queued' || input !== null) return undefined;
  const request = sandboxRequest(store.reader, store.config, agent);
  if (request.backend !== 'docker' || request.sandbox.mounts.length === 0) return undefined;
  return usesSandbox(store.config, agentRow(store.reader, agent)) ? request : undefined;
}

/** What the prompt of an agent tells of its sandbox; nothing to agents that have no tools there. */
export async function sandboxSeen(
  context: ToolhostContext,
  store: ProjectStore,
  agent: AgentRow,
  mounts: readonly MeasuredMount[] = [],
): Promise<SandboxSeen | undefined> {
  if (!usesSandbox(store.config, agent)) return undefined;
  const { snapshot } = agent;
  const isEmpty = snapshot === null && dueClone(store.reader, store.config, agent.id) === undefined;
  // What a clone will hold is not known yet.
  const stored = snapshot === null ? undefined : await topOfStored(context, store.project, snapshot);
  const isOwn = ({ name }: { name: string }) => name === ownArtifacts;
  const top = stored === 'too-many' ? undefined : stored;
  return {
    snapshot,
    workspace: isEmpty ? [] : (top?.filter((entry) => !isOwn(entry)) ?? stored),
    hasOwnArtifacts: top?.some(isOwn) === true,
    mounts: new Map(mounts.map((mount) => [mount.target, mount])),
  };
}

function usesSandbox(config: ProjectConfig, agent: Pick<AgentRow, 'id' | 'external'>): boolean {
  const tools = toolNames(agent, config);
  return sandboxPacksOf(tools).length > 0 || tools.some((tool) => toolpackOf(config, tool) !== undefined);
}

/** Undefined where it cannot be read: that is for the worker to meet, which restores it, and may be over by then. */
async function topOfStored(
  context: ToolhostContext,
  project: string,
  snapshot: string,
): Promise<WorkspaceTop | undefined> {
  try {
    const manifest = await contentOf(context, project).readStart(snapshot, maxManifestBytes + 1);
    return manifest.length > maxManifestBytes ? 'too-many' : topOf(manifest);
  } catch (error) {
    context.logger.warn({ err: error, project, snapshot }, 'a prompt cannot tell what is in a workspace');
    return undefined;
  }
}
