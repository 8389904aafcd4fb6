import { SuzumioError } from '@suzumio/contract/errors/suzumio-error';
import { supportStep } from '@suzumio/protocol/ids';
import { messageBody } from '@suzumio/protocol/message-body';
import type { ToolpackSignal } from '@suzumio/protocol/toolpacks/support';
import { passedQuota } from '../content/stored-bytes.js';
import { recordedResult, type RecordedResult, recordStep } from '../journal.js';
import { postMessage } from '../mail/post-message.js';
import type { SqlReader } from '../sqlite/sql.js';
import type { Tx } from '../sqlite/tx.js';
import { authorizeTool } from './authorize.js';
import type { KeptInput } from './kept-input.js';
import { emitCalled, statusOf } from './refuse-tool-call.js';
import { requireBegun } from './sandbox-steps.js';

// A toolpack's tool is carried out in the sandbox. What it asks of its controller takes effect outside: it is on record before
// that begins, and never done again. The step that asks for it was marked by its worker, and is never repeated either.

/** What a step in the sandbox asks of its toolpack's controller. */
export interface SupportCall {
  agent: string;
  turn: string;
  attempt: number;
  tokenHash: string;
  /** The step in the sandbox, and which of its calls this is. */
  of: string;
  number: number;
  /** The tool that is asked for, as it is recorded. */
  tool: string;
  input: KeptInput;
  requestHash: string;
}

/**
 * Begins a call of a controller.
 *
 * @returns `begun`; `under-way` where it was begun before, and has not ended; or what it came to
 * @throws SuzumioError `token-rejected`, `step-not-begun`, `step-ended`, `journal-mismatch`, `quota-exceeded`
 */
export function beginSupport(tx: Tx, call: SupportCall): 'begun' | 'under-way' | RecordedResult {
  authorizeTool(tx, call);
  requireOpen(tx, call);
  const recorded = recordedSupport(tx, call);
  if (recorded) return recorded;
  if (runningRow(tx, call) !== undefined) return 'under-way';
  const passed = passedQuota(tx, tx.storage, call.agent, 'rows');
  if (passed) throw new SuzumioError('quota-exceeded', passed.message);
  tx.insert('tool_calls', {
    id: tx.newId('call'),
    turn_id: call.turn,
    agent_id: call.agent,
    attempt: call.attempt,
    step: stepOf(call),
    tool: call.tool,
    input_json: call.input.json,
    status: 'running',
    started_at_ms: tx.nowMs,
  });
  return 'begun';
}

/** What a call of a controller came to, if it has ended. @throws SuzumioError `journal-mismatch` */
export function recordedSupport(reader: SqlReader, call: SupportCall): RecordedResult | undefined {
  return recordedResult(reader, { turn: call.turn, step: stepOf(call), requestHash: call.requestHash });
}

/**
 * Records what a call of a controller came to. The first that is recorded counts.
 *
 * @throws SuzumioError `token-rejected`
 */
export function endSupport(tx: Tx, call: SupportCall, result: RecordedResult): RecordedResult {
  authorizeTool(tx, call);
  const step = stepOf(call);
  const { turn, attempt, requestHash } = call;
  const stands = recordStep(tx, { turn, step, attempt, requestHash }, result);
  const row = runningRow(tx, call);
  if (row === undefined) return stands;
  tx.run(
    `UPDATE tool_calls SET status = :status, output_json = :output, error_code = :code, ended_at_ms = :now WHERE id = :id`,
    {
      id: row.id,
      status: statusOf(stands),
      output: JSON.stringify(stands.ok ? stands.response.output : { code: stands.code, message: stands.message }),
      code: stands.ok ? null : stands.code,
      now: tx.nowMs,
    },
  );
  emitCalled(tx, call, step, stands);
  return stands;
}

/** Mail of a toolpack, in the name of the agent whose call it is. */
export interface SupportMail {
  recipient?: string | undefined;
  channel?: string | undefined;
  priority?: 'P0' | 'P1' | 'P2' | 'P3' | undefined;
  body: string;
}

/**
 * Sends mail for a call of a controller that is under way.
 *
 * @throws SuzumioError `token-rejected`, and what mail is refused with
 */
export function sendSupportMail(tx: Tx, call: SupportCall, mail: SupportMail): { id: string } {
  authorizeTool(tx, call);
  const { agent, turn } = call;
  const { recipient, channel, priority = 'P1', body } = mail;
  const { error } = messageBody.safeParse(body);
  if (error)
    throw new SuzumioError('invalid-request', `The body of its mail is not valid: ${error.issues[0]?.message}.`);
  const { id } = postMessage(tx, { recipient, channel, priority, body, sender: agent, actor: agent, turn });
  return { id };
}

/**
 * Records a signal for a call that is under way. One with a target is mail: nothing else wakes an agent.
 *
 * @throws SuzumioError `token-rejected`, and what mail is refused with
 */
export function recordSignal(
  tx: Tx,
  call: SupportCall,
  toolpack: string,
  signal: ToolpackSignal,
): { message?: string | undefined } {
  authorizeTool(tx, call);
  const { kind, targetAgent: recipient, targetChannel: channel, priority, usefulEffect = false } = signal;
  const isMail = recipient !== undefined || channel !== undefined;
  const message = isMail
    ? sendSupportMail(tx, call, { recipient, channel, priority: priority ?? 'P1', body: textOf(signal) }).id
    : undefined;
  const { agent, turn } = call;
  const told = { toolpack, kind, useful: usefulEffect, ...(message === undefined ? {} : { message }) };
  tx.emit({ type: 'signal.recorded', actor: agent, agent, turn, data: told });
  return { message };
}

/** A signal as the text of a message. */
function textOf({ kind, payload = {} }: ToolpackSignal): string {
  const { message } = payload;
  if (typeof message === 'string') return `${kind}\n\n${message}`;
  return Object.keys(payload).length === 0 ? kind : `${kind}\n\n${JSON.stringify(payload, null, 2)}`;
}

function stepOf({ of, number }: SupportCall): string {
  return supportStep(of, number);
}

/** @throws SuzumioError `step-not-begun`, `step-ended` */
function requireOpen(reader: SqlReader, { turn, attempt, of }: SupportCall): void {
  if (requireBegun(reader, { turn, attempt, step: of }).status === 'running') return;
  throw new SuzumioError('step-ended', `Step ${of} has ended, so nothing is asked for it any more.`);
}

function runningRow(reader: SqlReader, call: SupportCall): { id: string } | undefined {
  return reader.get<{ id: string }>(
    `SELECT id FROM tool_calls WHERE turn_id = :turn AND step = :step AND attempt = :attempt AND status = 'running'`,
    { turn: call.turn, step: stepOf(call), attempt: call.attempt },
  );
}
