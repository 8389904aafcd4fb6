import { isSuzumioError, SuzumioError } from '@suzumio/shared/errors/suzumio-error';
import type { ToolRequest, ToolResponse } from '@suzumio/shared/protocol/runner';
import { canonicalToolName } from '@suzumio/shared/protocol/tool-names';
import { authorizeTool } from '@suzumio/shared/store/authorize';
import { keptInput } from '@suzumio/shared/store/kept-input';
import type { ProjectStore } from '@suzumio/shared/store/project-store';
import type { Tx } from '@suzumio/shared/store/tx';
import {
  type RecordedResult,
  recordedResult,
  recordRefusal,
  recordToolCall,
  refusalOf,
  type ToolCall,
  type ToolCallSite,
} from '@suzumio/shared/store/verbs/record-tool-call';
import type { PresentedToken } from './auth.js';
import { contentOf } from './content.js';
import type { ToolhostContext } from './context.js';
import { uploadFacts } from './tools/artifacts-publish.js';
import { requestHash } from '@suzumio/shared/store/request-hash';
import { findTool } from './tools/catalogue.js';

/**
 * Runs one tool call of a runner, or answers it from the journal.
 *
 * @throws SuzumioError the tool's failure, as it is recorded; `token-rejected`; `forbidden` when the call names another
 *   turn than its token
 */
export async function callTool(
  context: ToolhostContext,
  token: PresentedToken,
  request: ToolRequest,
): Promise<ToolResponse> {
  return context.cell.stores.use(token.project, async (store) => {
    const { agent } = authorizeTool(store.reader, token);
    const tool = canonicalToolName(request.tool);
    const call: ToolCall = {
      agent,
      turn: token.turn,
      attempt: token.attempt,
      tokenHash: token.tokenHash,
      step: request.step,
      tool,
      input: keptInput(request.input),
      requestHash: requestHash(tool, withoutUploadFacts(tool, request.input)),
    };
    if (request.project !== token.project || request.turn !== token.turn || request.agent !== agent) {
      const message = 'A token is good for its own turn only, and this call names another.';
      await store.write((tx) => recordRefusal(tx, call, 'forbidden', message));
      context.metrics.toolCalls.inc({ tool, outcome: 'refused' });
      throw new SuzumioError('forbidden', message);
    }
    const { result, replayed } = await run(context, store, call, request.input);
    const outcome = replayed ? 'replayed' : result.ok ? 'ok' : result.refused ? 'refused' : 'failed';
    context.metrics.toolCalls.inc({ tool, outcome });
    if (!replayed) await afterwards(context, store.project, tool);
    if (result.ok) return result.response;
    throw new SuzumioError(result.code, result.message);
  });
}

async function run(
  context: ToolhostContext,
  store: ProjectStore,
  call: ToolCall,
  input: unknown,
): Promise<{ result: RecordedResult; replayed: boolean }> {
  if (call.step !== undefined) {
    // A repeated call must not read or write files again before it is recognised.
    const recorded = recordedBefore(store, { ...call, step: call.step });
    if (recorded) return { result: recorded, replayed: true };
  }
  context.cell.disk.require('rows');
  const effect = await prepare(context, store, call, input);
  return store.write((tx) => recordToolCall(tx, call, (site) => effect(tx, site)));
}

/** A contradiction is left to the transaction, which records it. */
function recordedBefore(store: ProjectStore, call: ToolCall & { step: string }): RecordedResult | undefined {
  try {
    return recordedResult(store.reader, call);
  } catch (error) {
    if (isSuzumioError(error, 'journal-mismatch')) return undefined;
    throw error;
  }
}

/**
 * Does what must not happen inside a transaction, for a call that may be made; what goes wrong here becomes the call's
 * recorded outcome.
 */
async function prepare(
  context: ToolhostContext,
  store: ProjectStore,
  call: ToolCall,
  input: unknown,
): Promise<(tx: Tx, site: ToolCallSite) => ToolResponse> {
  try {
    // Whatever has changed by the time it is recorded: nothing was written for it.
    const refusal = refusalOf(store.reader, store, call);
    if (refusal) throw new SuzumioError(refusal.code, refusal.message);
    const content = contentOf(context, store.project);
    return await findTool(call.tool).prepare(input, {
      reader: store.reader,
      content,
      store: (bytes, kind) => store.content.putBytes(content, bytes, { owner: call.agent, kind }),
      agent: call.agent,
      turn: call.turn,
    });
  } catch (error) {
    if (!isSuzumioError(error)) throw error;
    return () => {
      throw error;
    };
  }
}

async function afterwards(context: ToolhostContext, project: string, tool: string): Promise<void> {
  if (tool === 'completion.submit') await context.cell.noteStatus(project);
  context.transport.wake(project);
}

/** What a runner sends along of what it uploaded is no part of what was asked: a file may be read again. */
function withoutUploadFacts(tool: string, input: unknown): unknown {
  if (tool !== 'artifacts.publish' || typeof input !== 'object' || input === null) return input;
  const facts: readonly string[] = uploadFacts;
  return Object.fromEntries(Object.entries(input).filter(([key]) => !facts.includes(key)));
}
