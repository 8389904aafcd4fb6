import { SuzumioError } from '@suzumio/shared/errors/suzumio-error';
import type { ProjectConfig } from '@suzumio/shared/model/project-config';
import {
  attemptsProtocol,
  type ClaimAnswer,
  type ClaimRequest,
  type SandboxLimits,
} from '@suzumio/shared/protocol/attempts';
import { runnerProtocol } from '@suzumio/shared/protocol/runner';
import type { ProjectStore } from '@suzumio/shared/store/project-store';
import { turnRow } from '@suzumio/shared/store/rows';
import { attemptToken, hashToken } from '@suzumio/shared/store/tokens';
import { type Claimed, claimTurn, prepareTurn, type PreparedTurn } from '@suzumio/shared/store/verbs/claim-turn';
import { failTurn } from '@suzumio/shared/store/verbs/report-attempt';
import type { ToolhostContext } from './context.js';
import { toolDefinitions } from './tools/catalogue.js';

/** Mail that keeps arriving makes a claim render again; after this many times the worker asks anew. */
const maxRenderings = 10;

/**
 * Gives a turn to a worker. The prompt is rendered before the transaction, which then checks that the inbox is still
 * what it was rendered from.
 *
 * @returns the answer, and whether the same claim has been granted before
 * @throws SuzumioError `claim-refused`, `attempt-over`, `nothing-to-do`, `protocol-unsupported`, `turn-unknown`
 */
export async function claim(
  context: ToolhostContext,
  store: ProjectStore,
  turn: string,
  request: ClaimRequest,
): Promise<{ answer: ClaimAnswer; repeated: boolean }> {
  if (request.protocol !== attemptsProtocol) {
    throw new SuzumioError(
      'protocol-unsupported',
      `This ToolHost speaks version ${String(attemptsProtocol)} of the attempts protocol, the worker version ${String(request.protocol)}; bring both to the same release.`,
    );
  }
  const tokens = (attempt: number, epoch: number) => {
    const of = { cell: context.cell.id, project: store.project, epoch, turn, attempt };
    return {
      lease: attemptToken(context.cellKey, 'lease', of, request.claimId),
      tool: attemptToken(context.cellKey, 'tool', of, request.claimId),
    };
  };
  for (let rendering = 0; rendering < maxRenderings; rendering += 1) {
    const prepared = await prepare(store, turn);
    const claimed = await store.write((tx) =>
      claimTurn(tx, {
        turn,
        ...request,
        leaseMs: context.leaseMs,
        hashes: (attempt, epoch) => {
          const { lease, tool } = tokens(attempt, epoch);
          return { lease: hashToken(lease), tool: hashToken(tool) };
        },
        prepared,
      }),
    );
    if (claimed === 'nothing-to-do') {
      throw new SuzumioError('nothing-to-do', `${turn} has no mail left to act on; it was cancelled.`, { turn });
    }
    if (claimed !== 'stale') {
      const { attempt, epoch, repeated } = claimed;
      return { answer: answer(context, store.config, claimed, tokens(attempt, epoch)), repeated };
    }
  }
  throw new SuzumioError('store-busy', `Mail for ${turn} arrives faster than its prompt can be written; claim again.`, {
    turn,
  });
}

/** Renders the prompt of a turn that has none yet. A turn that cannot be rendered fails: it never could be. */
async function prepare(store: ProjectStore, turn: string): Promise<PreparedTurn | undefined> {
  if (turnRow(store.reader, turn).input_json !== null) return undefined;
  try {
    return store.snapshot((reader) => prepareTurn(reader, store.config, turn));
  } catch (error) {
    const message = `The prompt could not be written: ${error instanceof Error ? error.message : String(error)}`;
    await store.write((tx) => {
      const row = turnRow(tx, turn);
      if (row.status === 'queued') failTurn(tx, row, { code: 'prompt-failed', message: message.slice(0, 2000) });
    });
    throw new SuzumioError('claim-refused', message, { turn }, { cause: error });
  }
}

function answer(
  context: ToolhostContext,
  config: ProjectConfig,
  claimed: Claimed,
  tokens: { lease: string; tool: string },
): ClaimAnswer {
  const { toolNames, ...input } = claimed.input;
  return {
    attempt: claimed.attempt,
    leaseToken: tokens.lease,
    toolToken: tokens.tool,
    leaseMs: context.leaseMs,
    timeoutMs: config.turn.timeout,
    backend: config.backend.kind,
    sandbox: sandboxOf(config),
    snapshot: claimed.snapshot,
    input: {
      ...input,
      tools: toolDefinitions(toolNames),
      protocol: runnerProtocol,
      limits: { timeoutMs: config.turn.timeout, doorPatienceMs: context.leaseMs },
    },
  };
}

function sandboxOf({ backend: { image, docker } }: ProjectConfig): SandboxLimits {
  return {
    image,
    network: docker.network,
    mounts: docker.mounts.map(({ source, target, readonly }) => ({ source, target, readonly })),
    env: {},
    memoryBytes: docker.memory,
    cpus: docker.cpus,
    pids: docker.pids,
    ...(docker.user === undefined ? {} : { user: docker.user }),
    readOnlyRoot: docker.readOnlyRoot,
    tmpfs: docker.tmpfs,
    keep: docker.keep,
    keepForMs: docker.keepFor,
  };
}
