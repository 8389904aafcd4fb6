import { setTimeout as sleep } from 'node:timers/promises';
import { join } from 'node:path';
import * as z from 'zod';
import { isSuzumioError, SuzumioError } from '@suzumio/contract/errors/suzumio-error';
import { type ProjectToolpack, toolpackOf, withoutTaken } from '@suzumio/core/config/local-toolpacks';
import { takenDenials } from '@suzumio/core/policy/check-toolpack';
import { describeDenial } from '@suzumio/core/policy/denial';
import { priority } from '@suzumio/protocol/ids';
import type { PackAnswer } from '@suzumio/protocol/toolpacks/answer';
import { filesOfToolpack, maxToolpackContentBytes } from '@suzumio/protocol/toolpacks/files';
import { type SupportRequest, toolpackSignal } from '@suzumio/protocol/toolpacks/support';
import { parse } from '@suzumio/runtime/http/validate';
import { requestHash, type RecordedResult } from '@suzumio/store/journal';
import type { ProjectStore } from '@suzumio/store/projects/project-store';
import { agentRow } from '@suzumio/store/rows';
import { authorizeTool } from '@suzumio/store/turns/authorize';
import { keptInput } from '@suzumio/store/turns/kept-input';
import { requireBegun } from '@suzumio/store/turns/sandbox-steps';
import {
  beginSupport,
  endSupport,
  recordedSupport,
  recordSignal,
  sendSupportMail,
  type SupportCall,
} from '@suzumio/store/turns/support-calls';
import { forbiddenInTurn } from '@suzumio/store/turns/tool-call-refusal';
import { configOfTurn } from '@suzumio/store/turns/turn-config';
import type { PresentedToken } from '../auth.js';
import { contentOf } from '../content.js';
import type { ToolhostContext } from '../context.js';
import { countRefusal } from '../count-unreadable.js';
import type { ControllerAsk } from './controller-protocol.js';

/** How often it is looked whether a call has ended that another process carries out, and how much longer than its limit. */
const lookMs = 250;
const graceMs = 5_000;

/** Mail as modules of the published format send it. The sender is the agent of the call, whatever they say. */
const sentMail = z.object({
  recipient: z.string().max(200).optional(),
  channel: z.string().max(200).optional(),
  priority: priority.optional(),
  body: z.string(),
});

/**
 * Does what a step in the sandbox asks of its toolpack's controller, once: what was begun and not ended by a process that is gone is
 * `outcome-unknown`, and not done again.
 *
 * @throws SuzumioError the recorded failure; `token-rejected`, `forbidden`, `step-not-begun`, `step-ended`, `tool-not-allowed`,
 *   `policy-denied`, `quota-exceeded`
 */
export async function support(
  context: ToolhostContext,
  token: PresentedToken,
  request: SupportRequest,
): Promise<PackAnswer> {
  return context.cell.stores.use(token.project, async (store) => {
    const { pack, call, begun } = await begin(context, store, token, request);
    const result =
      begun === 'under-way'
        ? await untilEnded(context, store, call)
        : begun === 'begun'
          ? await carriedOut(context, store, { pack, call, asks: request.asks })
          : begun;
    if (result.ok) return result.response as PackAnswer;
    throw new SuzumioError(result.code, result.message);
  });
}

/** @throws SuzumioError why it is not done, which counts as a refused call of the attempt */
async function begin(
  context: ToolhostContext,
  store: ProjectStore,
  token: PresentedToken,
  request: SupportRequest,
): Promise<Admitted & { begun: ReturnType<typeof beginSupport> }> {
  try {
    const { pack, call } = admitted(context, store, token, request);
    context.cell.disk.require('rows');
    return { pack, call, begun: await store.write((tx) => beginSupport(tx, call)) };
  } catch (error) {
    if (isSuzumioError(error) && error.status < 500) await countRefusal(context, store, token);
    throw error;
  }
}

interface Admitted {
  pack: ProjectToolpack;
  call: SupportCall;
}

/** @throws SuzumioError why it is not done */
function admitted(
  { policyOf }: ToolhostContext,
  store: ProjectStore,
  token: PresentedToken,
  { project, agent: named, turn, step, number, toolpack, asks }: SupportRequest,
): Admitted {
  const { reader } = store;
  const { agent } = authorizeTool(reader, token);
  if (project !== token.project || turn !== token.turn || named !== agent) {
    throw new SuzumioError('forbidden', 'A token is good for its own turn only, and this names another.');
  }
  const { tool: asking } = requireBegun(reader, { ...token, step });
  const config = configOfTurn(reader, store, turn);
  const pack = toolpackOf(config, asking);
  if (pack?.id !== toolpack) {
    throw new SuzumioError('forbidden', `Step ${step} is a call of ${asking}, which is no tool of ${toolpack}.`);
  }
  const tool = 'tool' in asks ? asks.tool : asking;
  const forbidden = pack.tools.some(({ name }) => name === tool)
    ? forbiddenInTurn(agentRow(reader, agent), config, store.config, tool)
    : `${tool} is no tool of ${toolpack}.`;
  if (forbidden !== undefined) throw new SuzumioError('tool-not-allowed', forbidden);
  const denied = takenDenials(policyOf(project), pack);
  if (denied.length > 0) throw new SuzumioError('policy-denied', `${denied.map(describeDenial).join('; ')}.`);
  const call: SupportCall = {
    agent,
    turn,
    attempt: token.attempt,
    tokenHash: token.tokenHash,
    of: step,
    number,
    tool,
    input: keptInput('tool' in asks ? asks.input : asks),
    requestHash: requestHash('support', asks),
  };
  return { pack, call };
}

interface Asked extends Admitted {
  asks: SupportRequest['asks'];
}

async function carriedOut(context: ToolhostContext, store: ProjectStore, asked: Asked): Promise<RecordedResult> {
  const { call } = asked;
  let result: RecordedResult;
  try {
    result = { ok: true, response: await outcome(context, store, asked) };
  } catch (error) {
    // Of this process, or one that passes: the call is left as it is, and nobody knows what it has done.
    if (!isSuzumioError(error) || error.status >= 500) throw error;
    result = { ok: false, code: error.code, message: error.message, refused: false };
  }
  const ended = await store.write((tx) => endSupport(tx, call, result));
  context.metrics.toolCalls.inc({ tool: call.tool, outcome: ended.ok ? 'ok' : 'failed' });
  // It may have sent mail.
  context.transport.wake(store.project);
  return ended;
}

async function outcome(
  context: ToolhostContext,
  store: ProjectStore,
  { pack, call, asks }: Asked,
): Promise<PackAnswer> {
  if ('signal' in asks) {
    const { message } = await store.write((tx) => recordSignal(tx, call, pack.id, asks.signal));
    const output = message === undefined ? 'Recorded.' : `Sent as ${message}.`;
    return { output, ...(message === undefined ? {} : { metadata: { message } }) };
  }
  if (pack.controller === undefined) {
    throw new SuzumioError('toolpack-failed', `The toolpack ${pack.id} has no controller module: it calls none.`);
  }
  const agent = agentRow(store.reader, call.agent);
  return context.controllers.call({
    files: async () => {
      const content = contentOf(context, store.project);
      return filesOfToolpack(await content.readStart(pack.sha256, maxToolpackContentBytes));
    },
    module: pack.controller,
    order: {
      tool: asks.tool,
      input: asks.input,
      project: store.project,
      agent: { id: agent.id, role: agent.role, displayName: agent.display_name ?? agent.id, status: agent.state },
      activationId: call.turn,
      toolpackId: pack.id,
      root: join(context.cell.directory.projectDir(store.project), 'toolpacks', pack.id),
    },
    reply: ({ ask, value }) => replied(store, { pack, call }, ask, value),
  });
}

/** What a controller asks of its project, while its call is under way. */
async function replied(
  store: ProjectStore,
  { pack, call }: Omit<Asked, 'asks'>,
  ask: ControllerAsk,
  value: unknown,
): Promise<unknown> {
  authorizeTool(store.reader, call);
  switch (ask) {
    case 'config':
      return withoutTaken(configOfTurn(store.reader, store, call.turn));
    case 'listAgents':
      return store.reader.all(
        'SELECT id, role, coalesce(display_name, id) AS displayName, state AS status FROM agents ORDER BY position',
      );
    case 'sendMessage': {
      const mail = parse(sentMail, value, 'message');
      return store.write((tx) => sendSupportMail(tx, call, mail));
    }
    case 'recordSignal': {
      const signal = parse(toolpackSignal, value, 'signal');
      return store.write((tx) => recordSignal(tx, call, pack.id, signal));
    }
  }
}

/** Waits for another request that carries the same call out. Where none has ended it in time, none does. */
async function untilEnded(
  { controllers }: ToolhostContext,
  store: ProjectStore,
  call: SupportCall,
): Promise<RecordedResult> {
  for (let leftMs = controllers.limitMs + graceMs; leftMs > 0; leftMs -= lookMs) {
    const recorded = recordedSupport(store.reader, call);
    if (recorded) return recorded;
    await sleep(lookMs);
  }
  const message = `The process that called the controller for ${call.tool} is gone, so it is not called again, and nobody knows what came of it. Find out before you do it again.`;
  return store.write((tx) => endSupport(tx, call, { ok: false, code: 'outcome-unknown', message, refused: false }));
}
