import { isSuzumioError } from '@suzumio/contract/errors/suzumio-error';
import type { ErrorCode } from '@suzumio/contract/errors/codes';
import type { ProjectConfig } from '@suzumio/contract/model/project-config';
import type { ToolResponse } from '@suzumio/protocol/runner';
import { allowsTool, canonicalToolName } from '@suzumio/protocol/tool-names';
import type { KeptInput } from './kept-input.js';
import { recordedResult, type RecordedRefusal, type RecordedResult, recordStep } from '../journal.js';
import { wasAskedFor } from './asked-calls.js';
import { agentRow, attemptRow, projectRow, turnRow, type TurnRow } from '../rows.js';
import { authorizeTool } from './authorize.js';
import type { SqlReader } from '../sqlite/sql.js';
import { passedQuota } from '../content/stored-bytes.js';
import type { Json, Tx } from '../sqlite/tx.js';
import { noteContradiction } from './note-contradiction.js';
import { noteRefusedCall } from './note-refused-call.js';
import { failTurn } from './report-attempt.js';

/** A call of a core tool, as the ToolHost takes it from a runner. */
export interface ToolCall {
  agent: string;
  turn: string;
  attempt: number;
  tokenHash: string;
  /** The call's place; absent for a runner that names no steps. */
  step?: string | undefined;
  tool: string;
  input: KeptInput;
  /** The hash of tool and input: the same place must always ask the same. */
  requestHash: string;
}

/** How the place of a call begins whose runner names none: it is its number in the attempt. */
const unnamedPrefix = 'seq.';

/** What the effect of a call learns of where it is called from. */
export interface ToolCallSite {
  agent: string;
  turn: string;
  promptSeq: number;
}

/**
 * Runs a core tool and records it: effect, tool call, journal step and events are one transaction, so that a call takes
 * effect exactly once however often it is repeated, by this attempt or a later one.
 *
 * Failures and refusals are recorded and repeated like successes. A call that the journal contradicts ends the turn
 * where the runner names no steps, since it could never get past that place; so does one refused call too many.
 *
 * @param known why the call is refused, where that was found before: it is not looked for again
 */
export function recordToolCall(
  tx: Tx,
  call: ToolCall,
  effect: (site: ToolCallSite) => ToolResponse,
  known?: RecordedRefusal,
): { result: RecordedResult; replayed: boolean } {
  authorizeTool(tx, call);
  const turn = turnRow(tx, call.turn);
  const step = call.step ?? nextUnnamedStep(tx, call);
  try {
    const recorded = recordedResult(tx, { ...call, step });
    if (recorded) return { result: recorded, replayed: true };
  } catch (error) {
    return { result: contradicted(tx, turn, { ...call, step }, error), replayed: false };
  }

  const made = recordedCalls(tx, turn.id);
  if (!isRecorded(tx, made)) {
    noteRefusedCall(tx, turn, call.attempt);
    return { result: limitReached(tx.config), replayed: false };
  }
  const id = tx.newId('call');
  tx.insert('tool_calls', {
    id,
    turn_id: turn.id,
    agent_id: call.agent,
    attempt: call.attempt,
    step,
    tool: call.tool,
    input_json: call.input.json,
    status: 'running',
    started_at_ms: tx.nowMs,
  });
  const refusal = known ?? refusalOf(tx, tx, call, turn, made);
  const { result, events } = refusal ? { result: refusal, events: [] } : execute(tx, turn, call, effect);
  tx.run(
    `UPDATE tool_calls SET status = :status, output_json = :output, error_code = :code, ended_at_ms = :now WHERE id = :id`,
    {
      id,
      status: statusOf(result),
      output: JSON.stringify(
        result.ok ? (result.response.output ?? null) : { code: result.code, message: result.message },
      ),
      code: result.ok ? null : result.code,
      now: tx.nowMs,
    },
  );
  recordStep(tx, { ...call, step }, result);
  if (result.ok && result.response.endTurn === true) {
    tx.run('UPDATE turns SET ended_by_tool = :tool WHERE id = :turn', { tool: call.tool, turn: turn.id });
  }
  emitCalled(tx, call, step, result);
  for (const event of events) tx.emit(event);
  if (refusal) noteRefusedCall(tx, turn, call.attempt);
  return { result, replayed: false };
}

function execute(tx: Tx, turn: TurnRow, call: ToolCall, effect: (site: ToolCallSite) => ToolResponse) {
  try {
    const { result: response, events } = tx.attempt(() =>
      effect({ agent: call.agent, turn: turn.id, promptSeq: turn.prompt_seq ?? 0 }),
    );
    const result: RecordedResult = { ok: true, response };
    return { result, events };
  } catch (error) {
    // What is ours to mend or will pass is not the tool's outcome: it is not recorded, and the runner asks again.
    if (!isSuzumioError(error) || error.status >= 500) throw error;
    const result: RecordedResult = { ok: false, code: error.code, message: error.message, refused: false };
    return { result, events: [] };
  }
}

/** Why a call has no effect, whatever it would do: asked before anything is written for it, and again where it is recorded. */
export function refusalOf(
  reader: SqlReader,
  { config, storage }: Pick<Tx, 'config' | 'storage'>,
  call: ToolCall,
  turn = turnRow(reader, call.turn),
  made = recordedCalls(reader, call.turn),
): RecordedRefusal | undefined {
  const refused = (code: ErrorCode, message: string): RecordedRefusal => ({ ok: false, code, message, refused: true });
  const { tools_json, external } = agentRow(reader, call.agent);
  const allowed = JSON.parse(tools_json) as string[];
  if (!allowsTool(allowed, call.tool)) {
    const list = allowed.length === 0 ? 'none' : allowed.map(canonicalToolName).join(', ');
    return refused('tool-not-allowed', `Agent ${call.agent} may not use ${call.tool}; its tools are: ${list}.`);
  }
  if (turn.ended_by_tool !== null) {
    return refused('turn-ended', `This turn has ended with ${turn.ended_by_tool}.`);
  }
  if (projectRow(reader).status === 'completed') return refused('project-closed', 'The project is completed.');
  if (config.backend.runner.mode === 'ai' && external === 0 && !wasAskedFor(reader, placed(call))) {
    return refused('call-not-asked', `The model's answer asks for no such call of ${call.tool} at this step.`);
  }
  if (made >= config.turn.maxToolCalls) return limitReached(config);
  const passed = passedQuota(reader, storage, call.agent, 'rows');
  return passed && refused('quota-exceeded', passed.message);
}

/** Behind the shim a call without a place is given its number there. */
function placed({ step, ...call }: ToolCall) {
  return step === undefined || step.startsWith(unnamedPrefix) ? call : { ...call, step };
}

function limitReached(config: ProjectConfig): RecordedRefusal {
  const message = `A turn may make ${String(config.turn.maxToolCalls)} tool calls, and this one has made them.`;
  return { ok: false, code: 'tool-limit-reached', message, refused: true };
}

function recordedCalls(reader: SqlReader, turn: string): number {
  const row = reader.get<{ count: number }>('SELECT count(*) AS count FROM tool_calls WHERE turn_id = :turn', { turn });
  return row?.count ?? 0;
}

/**
 * Whether a call leaves a row: what a turn asks for beyond its limit shows what it was up to, and is bounded like the
 * rest, so that no runner fills the disk with what it is refused.
 */
function isRecorded(tx: Tx, made: number): boolean {
  return made < 2 * tx.config.turn.maxToolCalls;
}

/** The place of a call whose runner names none: its number in the attempt. */
function nextUnnamedStep(tx: Tx, call: ToolCall): string {
  tx.run('UPDATE turn_attempts SET unnamed_calls = unnamed_calls + 1 WHERE turn_id = :turn AND number = :attempt', {
    turn: call.turn,
    attempt: call.attempt,
  });
  return `${unnamedPrefix}${String(attemptRow(tx, call.turn, call.attempt)?.unnamed_calls ?? 1)}`;
}

function contradicted(tx: Tx, turn: TurnRow, call: ToolCall & { step: string }, error: unknown): RecordedResult {
  if (!isSuzumioError(error, 'journal-mismatch')) throw error;
  const result = recordRefusal(tx, call, error.code, error.message);
  if (call.step.startsWith(unnamedPrefix)) failTurn(tx, turn, { code: 'journal-mismatch', message: error.message });
  else noteContradiction(tx, turn, call.attempt, error.message);
  return result;
}

/**
 * Refuses a call that has no place in the journal. One too many ends its turn.
 *
 * @throws SuzumioError `token-rejected`
 */
export function refuseToolCall(tx: Tx, call: ToolCall, code: ErrorCode, message: string): void {
  authorizeTool(tx, call);
  recordRefusal(tx, call, code, message);
  noteRefusedCall(tx, turnRow(tx, call.turn), call.attempt);
}

/** Records a call that was refused before it had a place in the journal, within what a turn may leave of such calls. */
export function recordRefusal(tx: Tx, call: ToolCall, code: ErrorCode, message: string): RecordedResult {
  const result: RecordedResult = { ok: false, code, message, refused: true };
  if (!isRecorded(tx, recordedCalls(tx, call.turn))) return result;
  const step = call.step ?? 'seq';
  tx.insert('tool_calls', {
    id: tx.newId('call'),
    turn_id: call.turn,
    agent_id: call.agent,
    attempt: call.attempt,
    step,
    tool: call.tool,
    input_json: call.input.json,
    status: 'refused',
    error_code: code,
    output_json: JSON.stringify({ code, message }),
    started_at_ms: tx.nowMs,
    ended_at_ms: tx.nowMs,
  });
  emitCalled(tx, call, step, result);
  return result;
}

function emitCalled(tx: Tx, call: ToolCall, step: string, result: RecordedResult): void {
  const data: Record<string, Json | undefined> = {
    tool: call.tool,
    step,
    attempt: call.attempt,
    outcome: statusOf(result),
    code: result.ok ? undefined : result.code,
  };
  tx.emit({ type: 'tool.called', actor: call.agent, agent: call.agent, turn: call.turn, data });
}

function statusOf(result: RecordedResult): 'succeeded' | 'failed' | 'refused' {
  if (result.ok) return 'succeeded';
  return result.refused ? 'refused' : 'failed';
}
