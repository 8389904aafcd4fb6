import type * as z from 'zod';
import { SuzumioError } from '@suzumio/contract/errors/suzumio-error';
import { parse } from '@suzumio/runtime/http/validate';
import { callOfWrite } from '@suzumio/protocol/ids';
import { toolpackOf } from '@suzumio/core/config/local-toolpacks';
import type { AppliedArtifact } from '@suzumio/protocol/artifacts';
import { type beginStepAnswer, endStepRequest, isScriptStep, type StepResult } from '@suzumio/protocol/sandbox-steps';
import { checkedInput } from '@suzumio/protocol/checked-input';
import { fileApply } from '@suzumio/protocol/sandbox-tools/files';
import { isSandboxTool } from '@suzumio/protocol/tool-names';
import type { ContentStore } from '@suzumio/store/content/content-store';
import type { RecordedStep } from '@suzumio/store/journal';
import type { ProjectStore } from '@suzumio/store/projects/project-store';
import { earlierPatches, findArtifact } from '@suzumio/store/content/artifacts';
import { authorizeTool } from '@suzumio/store/turns/authorize';
import {
  beginSandboxStep,
  type BegunStep,
  endSandboxStep,
  recordedStep,
  requireBegun,
  type SandboxCall,
  stepRefusal,
} from '@suzumio/store/turns/sandbox-steps';
import { configOfTurn } from '@suzumio/store/turns/turn-config';
import type { PresentedToken } from './auth.js';
import type { CallBody } from './bodies/call.js';
import { jsonBody } from './bodies/json-body.js';
import { outcomeOf, pace, refuseCall, toolCallOf } from './call-tool.js';
import { contentOf } from './content.js';
import type { ToolhostContext } from './context.js';
import { handed } from './tools/artifacts-read.js';
import { readShownImage } from './shown-image.js';

/** How many members the lists and objects of a result may have. */
const mostMembers = 20_000;

/**
 * Begins a step that its runner carries out in the sandbox.
 *
 * @returns `begun`, or what came of the step when this attempt took it before
 * @throws SuzumioError why the call is refused, as it is recorded; `invalid-request` without a step; `token-rejected`;
 *   `forbidden` when the call names another turn than its token
 */
export async function beginStep(
  context: ToolhostContext,
  token: PresentedToken,
  body: CallBody,
): Promise<z.infer<typeof beginStepAnswer>> {
  return context.cell.stores.use(token.project, async (store) => {
    const named = await toolCallOf(context, store, token, body);
    const { step, tool } = named;
    if (step === undefined) {
      throw new SuzumioError('invalid-request', 'A step in the sandbox is begun by its place: the call names no step.');
    }
    const call = { ...named, step };
    const isWrite = tool === 'artifacts.read' && callOfWrite(step) !== undefined;
    const config = configOfTurn(store.reader, store, token.turn);
    const isInSandbox = isSandboxTool(tool) || toolpackOf(config, tool) !== undefined;
    if (!isInSandbox && !isScriptStep(tool) && !isWrite) {
      const message = `"${tool}" is no tool of the sandbox; others are called with POST /tool.`;
      return refuseCall(context, store, call, 'tool-unknown', message);
    }
    const begun = await begin(context, store, call);
    if (begun === 'begun') return { begun: true, ...appliedBy(store, tool, body.input()) };
    const { result, replayed } = begun;
    context.metrics.toolCalls.inc({ tool, outcome: outcomeOf(result, replayed) });
    if (!result.ok && result.refused) {
      if (!replayed) context.transport.wake(store.project);
      throw new SuzumioError(result.code, result.message);
    }
    return { result: told(result) };
  });
}

/**
 * Ends a step that this attempt has begun. What its runner says came of it is recorded, and nothing is done by it.
 *
 * @returns the step, and the result on record
 * @throws SuzumioError `invalid-request`; `token-rejected`; `forbidden` when it names another turn than its token;
 *   `step-not-begun`; `step-ended`; `content-missing` for an image that was not uploaded
 */
export async function endStep(
  context: ToolhostContext,
  token: PresentedToken,
  bytes: Uint8Array,
): Promise<{ step: string; result: StepResult }> {
  const { project, agent, turn, step, result } = parse(endStepRequest, jsonBody(bytes, mostMembers), "step's result");
  return context.cell.stores.use(token.project, async (store) => {
    if (project !== token.project || turn !== token.turn || agent !== authorizeTool(store.reader, token).agent) {
      throw new SuzumioError('forbidden', 'A token is good for its own turn only, and this result names another.');
    }
    context.cell.disk.require('rows');
    // Before its image is read.
    requireBegun(store.reader, { ...token, step });
    const known = await withKnownImage(contentOf(context, token.project), result);
    const ended = await store.write((tx) => endSandboxStep(tx, { ...token, step }, known));
    context.metrics.toolCalls.inc({ tool: ended.tool, outcome: outcomeOf(ended.result, ended.replayed) });
    return { step, result: told(ended.result) };
  });
}

/**
 * A result with what is known of its image: not what the runner says of it, but what the bytes say that it has uploaded.
 *
 * @throws SuzumioError `content-missing`, `image-broken`, `image-too-large`
 */
async function withKnownImage(content: ContentStore, result: StepResult): Promise<StepResult> {
  if ('error' in result || result.image === undefined) return result;
  const { sha256 } = result.image;
  const sizeBytes = await content.renew(sha256);
  const image = sizeBytes === undefined ? undefined : await readShownImage(content, { sha256, sizeBytes }, sha256);
  if (image) return { ...result, image };
  throw new SuzumioError(
    'content-missing',
    `The image ${sha256} was not put to /content/${sha256} before, or is none.`,
  );
}

async function begin(context: ToolhostContext, store: ProjectStore, call: SandboxCall): Promise<BegunStep> {
  const result = recordedStep(store.reader, call);
  if (result) return { result, replayed: true };
  context.cell.disk.require('rows');
  const refusal = stepRefusal(store.reader, store, call);
  if (refusal) await pace(context, store, call);
  return store.write((tx) => beginSandboxStep(tx, call, refusal));
}

/** The artifact that a step applies; none where there is none, which its runner tells. */
function appliedBy({ reader }: ProjectStore, tool: string, input: unknown): { artifact?: AppliedArtifact } {
  if (tool !== 'file.apply') return {};
  const checked = checkedInput(fileApply.definition, fileApply.input, input);
  if ('fault' in checked) return {};
  const { artifact: named } = checked.input;
  const found = findArtifact(reader, { id: named }) ?? findArtifact(reader, { name: named });
  if (found === undefined || found.redacted) return {};
  if (found.base === null) return { artifact: handed(found) };
  return { artifact: { ...handed(found), base: found.base, earlier: earlierPatches(reader, found) } };
}

/** As the runner that carried it out said it. */
function told(result: RecordedStep): StepResult {
  return (result.ok ? result.response : { error: { code: result.code, message: result.message } }) as StepResult;
}
