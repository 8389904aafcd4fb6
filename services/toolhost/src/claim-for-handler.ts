import { isSuzumioError, SuzumioError } from '@suzumio/contract/errors/suzumio-error';
import { externalEngine, type handlerClaimRequest, type HandlerTurn } from '@suzumio/protocol/handlers';
import type { ApiIdentity } from '@suzumio/store/cell/api-tokens';
import type { ProjectStore } from '@suzumio/store/projects/project-store';
import { mailOfTurn, turnsForHandler } from '@suzumio/store/turns/handlers';
import { agentRow, turnRow } from '@suzumio/store/rows';
import type { SqlReader } from '@suzumio/store/sqlite/sql';
import { turnOfClaim } from '@suzumio/store/turns/claimable';
import { configOfTurn } from '@suzumio/store/turns/turn-config';
import { agentsToNote, noteHandler } from '@suzumio/store/turns/note-handler';
import type * as z from 'zod';
import { rejected } from '@suzumio/store/turns/authorize';
import { counted, grant, type Granted } from './claim.js';
import type { ClaimWait } from './claim-waits.js';
import type { ToolhostContext } from './context.js';

/** The holder of a token of the scope `handler`. */
export interface HandlerIdentity extends ApiIdentity {
  tokenId: string;
  project: string;
  agents: readonly string[];
}

/** A turn that was granted, and until when its lease was granted with this answer. */
export interface GrantedTurn {
  turn: HandlerTurn;
  leaseUntilMs: number;
}

type HandlerClaim = z.output<typeof handlerClaimRequest>;

/** How often a waiting claim polls without a hint: hints may be lost, and back-offs pass without one. */
const lookAgainMs = 1_000;

/**
 * Gives a handler a turn of one of its agents: one that is queued, or the first that is queued while it waits.
 *
 * @returns undefined where no turn was queued in its time
 * @throws SuzumioError `handler-agent-refused`, `agent-unknown`, `agent-not-external`, `attempt-over`, `token-rejected`
 */
export async function claimForHandler(
  context: ToolhostContext,
  identity: HandlerIdentity,
  request: HandlerClaim,
  wait: ClaimWait,
): Promise<GrantedTurn | undefined> {
  const { stores, catalog } = context.cell;
  const deadlineMs = performance.now() + request.waitMs;
  const { handler } = request;
  const agents = await stores.use(identity.project, async (store) => {
    const found = agentsOf(store.reader, identity, request);
    const unknown = agentsToNote(store.reader, { handler, agents: found, nowMs: context.cell.context.now() });
    if (unknown.length > 0) await store.write((tx) => noteHandler(tx, handler, unknown));
    return found;
  });
  for (;;) {
    if (!catalog.tokens.stillGood(identity.tokenId)) throw rejected();
    const granted = await stores.use(identity.project, (store) =>
      claimNow(context, store, identity, request, agents, wait),
    );
    if (granted) return granted;
    const leftMs = deadlineMs - performance.now();
    if (leftMs <= 0 || wait.over) return undefined;
    await wait.next(Math.min(leftMs, lookAgainMs));
  }
}

/**
 * The agents that a claim names.
 *
 * @throws SuzumioError `handler-agent-refused`, `agent-unknown`, `agent-not-external`
 */
function agentsOf(reader: SqlReader, identity: HandlerIdentity, { agents, team }: HandlerClaim): string[] {
  const { name, project } = identity;
  const own = identity.agents.join(', ');
  const foreign = agents?.find((agent) => !identity.agents.includes(agent));
  if (foreign !== undefined) {
    const message = `The token "${name}" is for ${own} of the project ${project}, and opens no turn of ${foreign}.`;
    throw new SuzumioError('handler-agent-refused', message, { agent: foreign });
  }
  const rows = (agents ?? identity.agents).map((agent) => agentRow(reader, agent));
  const inHouse = rows.find(({ external }) => external === 0);
  if (inHouse) {
    const message = `Turns of ${inHouse.id} run in a backend of Suzumio's own; a handler runs those of agents with "backend: external".`;
    throw new SuzumioError('agent-not-external', message, { agent: inHouse.id });
  }
  const wanted = rows.filter((row) => team === undefined || row.team === team);
  if (wanted.length === 0) {
    const message = `The token "${name}" is for ${own} of the project ${project}, none of which is in the team ${String(team)}.`;
    throw new SuzumioError('handler-agent-refused', message, { team });
  }
  return wanted.map(({ id }) => id);
}

/** Claims a queued turn, or returns the one that this claim was granted before. */
async function claimNow(
  context: ToolhostContext,
  store: ProjectStore,
  identity: HandlerIdentity,
  request: HandlerClaim,
  agents: readonly string[],
  wait: ClaimWait,
): Promise<GrantedTurn | undefined> {
  /** @returns undefined where another handler was first, its mail is gone, or this claim was granted another turn */
  const claim = async (turn: string): Promise<GrantedTurn | undefined> => {
    const { claimId, handler, batch } = request;
    const claimant = { claimId, worker: handler, credential: identity.name, engine: externalEngine, batch };
    try {
      const { granted } = await counted(context, async () => {
        const result = await grant(context, store, turn, claimant);
        return { granted: result, repeated: result.claimed.repeated };
      });
      return { turn: answer(context, store, granted), leaseUntilMs: granted.claimed.leaseUntilMs };
    } catch (error) {
      if (!isSuzumioError(error, 'claim-refused', 'nothing-to-do')) throw error;
      return undefined;
    }
  };
  /** @returns undefined where this claim was granted no turn, or has just handed it back */
  const claimAgain = async (): Promise<GrantedTurn | undefined> => {
    const turn = turnOfClaim(store.reader, request.claimId);
    if (turn === undefined) return undefined;
    if (!agents.includes(turnRow(store.reader, turn).agent_id)) throw rejected();
    return claim(turn);
  };
  const before = await claimAgain();
  if (before) return before;
  if (context.cell.catalog.pause.current !== null) return undefined;
  for (const turn of turnsForHandler(store.reader, { agents, nowMs: context.cell.context.now() })) {
    if (wait.over) return undefined;
    // Another ToolHost may have granted this claim a turn.
    const granted = (await claim(turn)) ?? (await claimAgain());
    if (granted) return granted;
  }
  return undefined;
}

function answer(context: ToolhostContext, store: ProjectStore, { claimed, tokens }: Granted): HandlerTurn {
  const { agent, turn, toolNames } = claimed.input;
  return {
    project: store.project,
    agent: {
      id: agent.id,
      role: agent.role,
      prompt: agent.prompt,
      displayName: agent.displayName ?? null,
      model: agent.model ?? null,
    },
    id: turn.id,
    number: turnRow(store.reader, turn.id).number,
    attempt: claimed.attempt,
    prompt: turn.prompt,
    mail: mailOfTurn(store.reader, turn.id),
    tools: toolNames,
    leaseToken: tokens.lease,
    toolToken: tokens.tool,
    leaseMs: context.leaseMs,
    timeoutMs: configOfTurn(store.reader, store, turn.id).turn.timeout,
  };
}
