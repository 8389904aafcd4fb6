import type { ErrorCode } from '@suzumio/contract/errors/codes';
import { isSuzumioError, messageOf, SuzumioError } from '@suzumio/contract/errors/suzumio-error';
import type { ProjectConfig } from '@suzumio/contract/model/project-config';
import { maxShownBytes } from '@suzumio/protocol/conversation';
import { blindPresets } from '@suzumio/core/budgets/presets';
import type { ToolResponse } from '@suzumio/protocol/runner';
import { packOf } from '@suzumio/protocol/tool-names';
import { authorizeTool } from '@suzumio/store/turns/authorize';
import { configOfTurn } from '@suzumio/store/turns/turn-config';
import { repositoryOfAgent } from '@suzumio/store/turns/workspace-base';
import type { ProjectStore } from '@suzumio/store/projects/project-store';
import { agentRow, attemptRow } from '@suzumio/store/rows';
import type { SqlReader } from '@suzumio/store/sqlite/sql';
import type { Tx } from '@suzumio/store/sqlite/tx';
import { type RecordedRefusal, type RecordedResult, recordedResult, type RecordedStep } from '@suzumio/store/journal';
import { recordToolCall, type ToolCallSite } from '@suzumio/store/turns/record-tool-call';
import { refusalOf, type ToolCall } from '@suzumio/store/turns/tool-call-refusal';
import { refuseToolCall } from '@suzumio/store/turns/refuse-tool-call';
import { type PresentedToken, senderOf } from './auth.js';
import type { CallBody } from './bodies/call.js';
import { contentOf } from './content.js';
import type { ToolhostContext } from './context.js';
import { bringProfileNotes, profileMemoryOf } from './profile-memory.js';
import type { ToolEnvironment } from './tools/tool.js';
import { findTool } from './tools/catalogue.js';

/**
 * Runs one tool call, or answers it from the journal.
 *
 * @param uncaptured why the workspace could not be captured before it: it is refused for that
 * @throws SuzumioError the tool's recorded failure; `token-rejected`; `forbidden` when the call names another turn than
 *   its token
 */
export async function callTool(
  context: ToolhostContext,
  token: PresentedToken,
  body: CallBody,
  uncaptured?: string,
): Promise<ToolResponse> {
  return context.cell.stores.use(token.project, async (store) => {
    const call = await toolCallOf(context, store, token, body);
    const { tool } = call;
    const { result, replayed } = await run(context, store, call, body.input, uncaptured);
    context.metrics.toolCalls.inc({ tool, outcome: outcomeOf(result, replayed) });
    if (!replayed) await afterwards(context, store, tool);
    if (result.ok) return result.response;
    throw new SuzumioError(result.code, result.message);
  });
}

/**
 * A call as the store takes it, in the name of the agent whose token it came with.
 *
 * @throws SuzumioError `token-rejected`; `forbidden` when the call names another turn than its token
 */
export async function toolCallOf(
  context: ToolhostContext,
  store: ProjectStore,
  token: PresentedToken,
  { project, agent: named, turn: of, step, tool, kept: input, requestHash: hash, scriptHash }: CallBody,
): Promise<ToolCall> {
  const { agent } = authorizeTool(store.reader, token);
  const { turn, attempt, tokenHash } = token;
  // Only a script's author may say that two inputs are one call: a model is held to what it asked for.
  const requestHash = isScripted(store, { agent, turn }) ? (scriptHash ?? hash) : hash;
  const call: ToolCall = { agent, turn, attempt, tokenHash, step, tool, input, requestHash };
  if (project === token.project && of === turn && named === agent) return call;
  return refuseCall(
    context,
    store,
    call,
    'forbidden',
    'A token is good for its own turn only, and this call names another.',
  );
}

function isScripted(store: ProjectStore, { agent, turn }: Pick<ToolCall, 'agent' | 'turn'>): boolean {
  const { reader } = store;
  return configOfTurn(reader, store, turn).backend.runner.mode === 'mock' && agentRow(reader, agent).external === 0;
}

/** What became of a call, as it is counted. */
export function outcomeOf(result: RecordedStep, replayed: boolean): 'ok' | 'failed' | 'refused' | 'replayed' {
  if (replayed) return 'replayed';
  return result.ok ? 'ok' : result.refused ? 'refused' : 'failed';
}

/**
 * Refuses a call before it has a step in the journal.
 *
 * @throws SuzumioError of `code`, once that is recorded; `token-rejected`
 */
export async function refuseCall(
  context: ToolhostContext,
  store: ProjectStore,
  call: ToolCall,
  code: ErrorCode,
  message: string,
): Promise<never> {
  await pace(context, store, call);
  await store.write((tx) => refuseToolCall(tx, call, code, message));
  context.metrics.toolCalls.inc({ tool: call.tool, outcome: 'refused' });
  // The refusal may have ended the turn.
  context.transport.wake(store.project);
  throw new SuzumioError(code, message);
}

async function run(
  context: ToolhostContext,
  store: ProjectStore,
  call: ToolCall,
  input: () => unknown,
  uncaptured: string | undefined,
): Promise<{ result: RecordedResult; replayed: boolean }> {
  if (call.step !== undefined) {
    // A repeated call must be recognised before it reads or writes files again.
    const recorded = recordedBefore(store, { ...call, step: call.step });
    if (recorded) return { result: recorded, replayed: true };
  }
  context.cell.disk.require('rows');
  // A refusal found here stands even if its reason has passed by the time it is recorded: nothing was prepared for the
  // call.
  const refusal = refusalOf(store.reader, store, call) ?? tooLarge(uncaptured);
  if (refusal) await pace(context, store, call);
  const effect = refusal ? none : await prepare(context, store, call, input());
  return store.write((tx) => recordToolCall(tx, call, (site) => effect(tx, site), refusal));
}

/** Keeps whoever is refused again and again waiting. */
export async function pace(
  { refusals }: ToolhostContext,
  store: ProjectStore,
  { turn, attempt }: Pick<ToolCall, 'turn' | 'attempt'>,
): Promise<void> {
  const refused = attemptRow(store.reader, turn, attempt)?.refused_calls ?? 0;
  await refusals.wait(senderOf({ project: store.project, turn, attempt }).attempt, refused);
}

function tooLarge(uncaptured: string | undefined): RecordedRefusal | undefined {
  return uncaptured === undefined
    ? undefined
    : { ok: false, code: 'workspace-too-large', message: uncaptured, refused: true };
}

function none(): never {
  throw new Error('a call that is refused has no effect');
}

/** The recorded result. A contradiction of the journal is left to the transaction, which records it. */
function recordedBefore(store: ProjectStore, call: ToolCall & { step: string }): RecordedResult | undefined {
  try {
    return recordedResult(store.reader, call);
  } catch (error) {
    if (isSuzumioError(error, 'journal-mismatch')) return undefined;
    throw error;
  }
}

/**
 * Does the part of a permitted call that must not happen inside a transaction.
 *
 * @returns its effect; whatever goes wrong in either becomes the call's recorded outcome
 */
async function prepare(
  context: ToolhostContext,
  store: ProjectStore,
  call: ToolCall,
  input: unknown,
): Promise<(tx: Tx, site: ToolCallSite) => ToolResponse> {
  try {
    const content = contentOf(context, store.project);
    const config = configOfTurn(store.reader, store, call.turn);
    const effect = await findTool(call.tool, config).prepare(input, {
      reader: store.reader,
      content,
      store: (bytes, kind) => store.content.putBytes(content, bytes, { owner: call.agent, kind }),
      repository: () => repositoryOfAgent(store.reader, config, call.agent, call.turn),
      agent: call.agent,
      turn: call.turn,
      profileMemory: () => profileMemoryOf(context, store, call.agent),
      ...seenBy(store.reader, config, call),
    });
    return (tx, site) => {
      try {
        return effect(tx, site);
      } catch (error) {
        throw outcomeOfError(context, call, error);
      }
    };
  } catch (error) {
    return () => {
      throw outcomeOfError(context, call, error);
    };
  }
}

/**
 * What a tool's error is recorded as, which the model is told. A failure of the machine is no outcome of a call: it may pass,
 * and the runner tries again.
 */
function outcomeOfError({ logger }: ToolhostContext, { tool, turn, step }: ToolCall, error: unknown): unknown {
  if (isSuzumioError(error) || isOfMachine(error)) return error;
  logger.error({ err: error, tool, turn, step }, 'a tool failed by a defect');
  const message = `${tool} failed, by a defect of its own: ${messageOf(error)}. Try another way.`;
  return new SuzumioError('tool-failed', message, { tool }, { cause: error });
}

/** Whether the operating system or SQLite refused something for a reason that is not in the call. */
function isOfMachine(error: unknown): boolean {
  if (typeof error !== 'object' || error === null) return false;
  if ('syscall' in error) return true;
  const code = 'code' in error ? String(error.code) : '';
  return code.startsWith('SQLITE_') && !/^SQLITE_(?:CONSTRAINT|MISMATCH|RANGE|TOOBIG)/.test(code);
}

/** A script and a handler see for themselves, as much as they ask for. */
function seenBy(
  reader: SqlReader,
  config: ProjectConfig,
  { agent }: ToolCall,
): Pick<ToolEnvironment, 'blind' | 'maxShownBytes'> {
  const isModel = config.backend.runner.mode === 'ai' && agentRow(reader, agent).external === 0;
  return isModel
    ? { blind: blindPresets(config, agent), maxShownBytes }
    : { blind: [], maxShownBytes: Number.POSITIVE_INFINITY };
}

async function afterwards(context: ToolhostContext, store: ProjectStore, tool: string): Promise<void> {
  const { project } = store;
  if (tool === 'completion.submit') await context.cell.noteStatus(project);
  if (packOf(tool) === 'memory') await bringProfileNotes(context, store);
  context.transport.wake(project);
}
