import { isSuzumioError, messageOf, SuzumioError } from '@suzumio/contract/errors/suzumio-error';
import { localToolpacks, toolpackOf } from '@suzumio/core/config/local-toolpacks';
import { contextLimitOf } from '@suzumio/core/budgets/presets';
import { sandboxDenials, type SandboxRequest } from '@suzumio/core/policy/check-sandbox';
import { takenDenials } from '@suzumio/core/policy/check-toolpack';
import { type Denial, describeDenial } from '@suzumio/core/policy/denial';
import type { Policy } from '@suzumio/core/policy/policy';
import type { ProjectConfig } from '@suzumio/contract/model/project-config';
import type { ArtifactsSeen } from '@suzumio/protocol/artifacts-directory';
import {
  attemptsProtocol,
  type ClaimAnswer,
  type ClaimedToolpack,
  type ClaimRequest,
  type MeasuredMount,
} from '@suzumio/protocol/attempts';
import type { Failure } from '@suzumio/protocol/failure-codes';
import { defaultIgnored } from '@suzumio/protocol/ignored-roots';
import { runnerProtocol } from '@suzumio/protocol/runner';
import { placeOf } from '@suzumio/runtime/queue/jobs';
import { othersSeen } from '@suzumio/store/content/artifacts-seen';
import type { ProjectStore } from '@suzumio/store/projects/project-store';
import { readAgentEnv } from '@suzumio/store/projects/agents';
import { readHistory } from '@suzumio/store/turns/history';
import { type AgentRow, agentRow, type TurnRow, turnRow } from '@suzumio/store/rows';
import { toolNames as namesOfTools } from '@suzumio/store/turns/frozen-input';
import { attemptToken, hashToken } from '@suzumio/store/turns/tokens';
import { keptToolSet } from '@suzumio/store/turns/tool-sets';
import { type Claimed, claimTurn } from '@suzumio/store/turns/claim-turn';
import { type PreparedTurn, prepareTurn } from '@suzumio/store/turns/prepare-turn';
import { forgetDelivery } from '@suzumio/store/turns/deliver-turn';
import { failTurn } from '@suzumio/store/turns/fail-attempt';
import { sharedOf } from '@suzumio/core/config/sandbox-of';
import { dueLook } from '@suzumio/store/turns/upstream-looks';
import { repositoryOfAgent, trackedOf } from '@suzumio/store/turns/workspace-base';
import { configOfTurn } from '@suzumio/store/turns/turn-config';
import { subscribers } from '@suzumio/store/turns/turn-notices';
import type { ToolhostContext } from './context.js';
import { countReadableNotes } from './profile-memory.js';
import { sandboxRequest, sandboxSeen } from './sandbox-seen.js';
import { toolDefinitions } from './tools/catalogue.js';

/** How often new mail may make a claim render again before the worker has to repeat it. */
const maxRenderings = 10;

/** The claimant of a turn. */
export interface Claimant {
  claimId: string;
  worker: string;
  credential: string;
  engine: string;
  /** The most messages in the turn's prompt. */
  batch?: number | undefined;
  /** What its mounts have in them, as far as that is known. */
  mounts?: readonly MeasuredMount[] | undefined;
}

/** A granted claim: the attempt, and its tokens. */
export interface Granted {
  claimed: Claimed;
  tokens: { lease: string; tool: string };
}

/**
 * Gives a turn to a worker.
 *
 * @returns the answer, and whether the same claim has been granted before
 * @throws SuzumioError `claim-refused`, `attempt-over`, `nothing-to-do`, `protocol-unsupported`
 */
export async function claim(
  context: ToolhostContext,
  store: ProjectStore,
  { id: turn, agent_id: agent }: Pick<TurnRow, 'id' | 'agent_id'>,
  request: ClaimRequest & { credential: string },
): Promise<{ answer: ClaimAnswer; repeated: boolean }> {
  if (request.protocol !== attemptsProtocol) {
    throw new SuzumioError(
      'protocol-unsupported',
      `This ToolHost speaks version ${String(attemptsProtocol)} of the attempts protocol, the worker version ${String(request.protocol)}; bring both to the same release.`,
    );
  }
  try {
    const { mounts, ...claimant } = request;
    const { claimed, tokens } = await grant(context, store, turn, {
      ...claimant,
      mounts: mounts === 'unmeasured' ? undefined : mounts,
    });
    return { answer: answer(context, store, claimed, tokens), repeated: claimed.repeated };
  } finally {
    leaveQueue(context, store, { turn, agent });
  }
}

/**
 * After any claim the turn's job is off the queue and its place is free, unless the job was stale: then the place is
 * that of the agent's next turn. Where projects wait for places, the scheduler refills the queue at once.
 */
function leaveQueue(
  { cell, transport }: ToolhostContext,
  { project, reader }: ProjectStore,
  { turn, agent }: { turn: string; agent: string },
): void {
  const { active_turn_id: active } = agentRow(reader, agent);
  if (active !== null && active !== turn && turnRow(reader, active).status === 'queued') return;
  transport.givePlacesBack([placeOf({ project, agent })]);
  if (!cell.catalog.waitingLine.empty) transport.wake(project);
}

/**
 * Gives a turn to its claimant. The prompt is rendered before the transaction, which then checks that the inbox is the
 * same.
 *
 * @throws SuzumioError `claim-refused`, `attempt-over`, `nothing-to-do`, `turn-unknown`
 */
export async function grant(
  context: ToolhostContext,
  store: ProjectStore,
  turn: string,
  { batch, mounts, ...claimant }: Claimant,
): Promise<Granted> {
  const tokens = (attempt: number, epoch: number) => {
    const of = { cell: context.cell.id, project: store.project, epoch, turn, attempt };
    return {
      lease: attemptToken(context.cellKey, 'lease', of, claimant.claimId),
      tool: attemptToken(context.cellKey, 'tool', of, claimant.claimId),
    };
  };
  for (let rendering = 0; rendering < maxRenderings; rendering += 1) {
    const prepared = await prepare(context, store, turn, { batch, mounts });
    const claiming = store.write((tx) =>
      claimTurn(tx, {
        turn,
        ...claimant,
        leaseMs: context.leaseMs,
        cellPaused: context.cell.catalog.pause.current !== null,
        hashes: (attempt, epoch) => {
          const { lease, tool } = tokens(attempt, epoch);
          return { lease: hashToken(lease), tool: hashToken(tool) };
        },
        prepared,
      }),
    );
    const claimed = await claiming.catch((error: unknown) => passOver(context, store, turn, error));
    if (claimed === 'nothing-to-do') {
      throw new SuzumioError('nothing-to-do', `${turn} has no mail left to act on; it was cancelled.`, { turn });
    }
    if (claimed === 'stale') continue;
    // Subscribers to the start of turns have mail now.
    const told = !claimed.repeated && subscribers(store.config, 'started', claimed.input.agent.id).length > 0;
    if (told) context.transport.wake(store.project);
    return { claimed, tokens: tokens(claimed.attempt, claimed.epoch) };
  }
  throw new SuzumioError('store-busy', `Mail for ${turn} arrives faster than its prompt can be written; claim again.`, {
    turn,
  });
}

/**
 * Renders the prompt of a turn that has none, after checking its container against the cell's policy, which may have
 * changed since the project was created. A turn that is not allowed, or cannot be rendered, fails: another attempt
 * would fail the same way.
 */
async function prepare(
  context: ToolhostContext,
  store: ProjectStore,
  turn: string,
  { batch, mounts }: Pick<Claimant, 'batch' | 'mounts'>,
): Promise<PreparedTurn | undefined> {
  const { policyOf, host } = context;
  const row = turnRow(store.reader, turn);
  const config = configOfTurn(store.reader, store, turn);
  // A handler's host is not subject to the policy.
  const agent = agentRow(store.reader, row.agent_id);
  const denials =
    row.status === 'queued' && agent.external === 0
      ? [
          ...sandboxDenials(policyOf(store.project), sandboxRequest(store.reader, config, row.agent_id), host),
          ...loadedDenials(policyOf(store.project), config, agent),
        ]
      : [];
  if (denials.length > 0) {
    const message = `The policy does not allow what this turn asks for: ${denials.map(describeDenial).join('; ')}.`;
    await failUnclaimed(context, store, turn, { code: 'policy-denied', message });
    throw new SuzumioError('claim-refused', message, { turn });
  }
  if (row.input_json !== null) return undefined;
  try {
    const seen = await sandboxSeen(context, store, agent, mounts);
    return store.snapshot((reader) =>
      prepareTurn(reader, store.config, turn, {
        batch,
        definitionsOf: (tools) => toolDefinitions(tools, store.config),
        seen,
        profileNotes: (profile) => countReadableNotes(context, store.project, profile),
      }),
    );
  } catch (error) {
    const message = `The prompt could not be written: ${messageOf(error)}`;
    await failUnclaimed(context, store, turn, { code: 'prompt-failed', message });
    throw new SuzumioError('claim-refused', message, { turn }, { cause: error });
  }
}

/** Takes a paused turn off the queue: its job was consumed by this refusal, and resuming delivers it again. */
async function passOver(
  { transport }: ToolhostContext,
  store: ProjectStore,
  turn: string,
  error: unknown,
): Promise<never> {
  if (isSuzumioError(error, 'claim-refused') && error.details['paused'] === true) {
    await store.write((tx) => {
      forgetDelivery(tx, turn, turnRow(tx, turn).delivery);
    });
    // It may have been resumed in the meantime.
    transport.wake(store.project);
  }
  throw error;
}

async function failUnclaimed(
  { transport }: ToolhostContext,
  store: ProjectStore,
  turn: string,
  { code, message }: Failure,
): Promise<void> {
  await store.write((tx) => {
    const row = turnRow(tx, turn);
    if (row.status === 'queued') failTurn(tx, row, { code, message: message.slice(0, 2000) });
  });
  // Another turn may get its place.
  transport.wake(store.project);
}

function answer(
  context: ToolhostContext,
  store: ProjectStore,
  claimed: Claimed,
  tokens: { lease: string; tool: string },
): ClaimAnswer {
  const { toolNames, toolSet, history, artifactsUpTo, ...input } = claimed.input;
  const { id } = input.agent;
  const config = configOfTurn(store.reader, store, input.turn.id);
  const request = sandboxRequest(store.reader, config, id);
  const repository = repositoryOfAgent(store.reader, config, id, input.turn.id);
  const look = dueLook(store.reader, config, input.turn.id);
  const shared = sharedOf(config, id);
  const toolpacks = toolpacksFor(config, toolNames);
  return {
    attempt: claimed.attempt,
    epoch: claimed.epoch,
    leaseToken: tokens.lease,
    toolToken: tokens.tool,
    leaseMs: context.leaseMs,
    ...withEnv(request, readAgentEnv(store.reader, id, turnRow(store.reader, input.turn.id).config_version)),
    ignored: [...(config.workspace?.ignore ?? defaultIgnored)],
    tracked: trackedOf(store.reader, id),
    snapshot: claimed.snapshot,
    ...(artifactsUpTo === undefined ? {} : { artifacts: artifactsOf(store, id, artifactsUpTo) }),
    ...(look ? { look } : {}),
    ...(toolpacks.length === 0 ? {} : { toolpacks }),
    input: {
      ...input,
      ...(history ? { history: readHistory(store.reader, id, history, contextLimitOf(config, id)) } : {}),
      tools:
        (toolSet === undefined ? undefined : keptToolSet(store.reader, toolSet)) ?? toolDefinitions(toolNames, config),
      ...(repository ? { repository } : {}),
      ...(shared ? { shared } : {}),
      sandbox: { mounts: request.sandbox.mounts.map(({ target, readonly }) => ({ path: target, readonly })) },
      protocol: runnerProtocol,
      limits: { timeoutMs: config.turn.timeout, doorPatienceMs: context.leaseMs },
    },
  };
}

/** What an agent finds in its directory of artifacts: as it was at its turn's first claim, but for what was redacted since. */
function artifactsOf({ reader, config }: ProjectStore, agent: string, upTo: number): ArtifactsSeen {
  const { artifacts } = othersSeen(reader, { agent, upTo });
  const published = artifacts.map(({ files: _, ...artifact }) => artifact);
  const creators = [...new Set([...Object.keys(config.agents), ...published.map(({ creator }) => creator)])];
  return { creators, published };
}

/** The policy may have changed since a toolpack was loaded. */
function loadedDenials(policy: Policy, config: ProjectConfig, agent: AgentRow): Denial[] {
  const used = new Set(namesOfTools(agent, config).map((tool) => toolpackOf(config, tool)?.id));
  return localToolpacks(config)
    .filter(({ id }) => used.has(id))
    .flatMap((pack) => takenDenials(policy, pack));
}

/** The local toolpacks of an agent's tools. */
function toolpacksFor(config: ProjectConfig, allowed: readonly string[]): ClaimedToolpack[] {
  return localToolpacks(config).flatMap(({ id, sha256, runner, tools }) => {
    const names = tools.map(({ name }) => name).filter((name) => allowed.includes(name));
    return runner === undefined || names.length === 0 ? [] : [{ id, sha256, runner, tools: names }];
  });
}

/** The request for the host, with the values of variables, which nothing else is given. */
function withEnv(request: SandboxRequest, env: Readonly<Record<string, string>>): SandboxRequest {
  return { ...request, sandbox: { ...request.sandbox, env } };
}

/** Counts the outcome of a claim. */
export async function counted<Result extends { repeated: boolean }>(
  { metrics }: ToolhostContext,
  claiming: () => Promise<Result>,
): Promise<Result> {
  try {
    const result = await claiming();
    metrics.claims.inc({ outcome: result.repeated ? 'repeated' : 'granted' });
    return result;
  } catch (error) {
    const outcome = isSuzumioError(error, 'nothing-to-do')
      ? 'nothing-to-do'
      : isSuzumioError(error) && error.status < 500
        ? 'refused'
        : 'failed';
    metrics.claims.inc({ outcome });
    throw error;
  }
}
