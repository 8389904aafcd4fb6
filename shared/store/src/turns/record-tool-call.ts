import { isSuzumioError } from '@suzumio/contract/errors/suzumio-error';
import type { ToolResponse } from '@suzumio/protocol/runner';
import { keptImage } from '../content/call-images.js';
import { type RecordedRefusal, recordedResult, type RecordedResult, recordStep } from '../journal.js';
import { attemptRow, turnRow, type TurnRow } from '../rows.js';
import type { Tx } from '../sqlite/tx.js';
import { authorizeTool } from './authorize.js';
import { noteContradiction, noteRefusedCall } from './refusal-limits.js';
import { emitCalled, isRecorded, recordRefusal, statusOf } from './refuse-tool-call.js';
import { failTurn } from './fail-attempt.js';
import { noteUncapturedCall } from './uncaptured-steps.js';
import { withUrgentNotice } from './urgent-notice.js';
import { limitReached, recordedCalls, refusalOf, type ToolCall, unnamedPrefix } from './tool-call-refusal.js';

/** The turn and step of a call, for its effect. */
export interface ToolCallSite {
  agent: string;
  turn: string;
  promptSeq: number;
}

/**
 * Runs a core tool and records it: effect, tool call, journal step and events are one transaction, so that a call takes
 * effect exactly once, however often this attempt or a later one repeats it.
 *
 * Failures and refusals are recorded and repeated like successes. A call that contradicts the journal ends the turn of
 * a runner that names no steps, which could never get past it; so does one refused call too many.
 *
 * @param known the refusal, where it was found before: it is not checked again
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
  const config = tx.configAt(turn.config_version);
  if (!isRecorded(config, made)) {
    noteRefusedCall(tx, turn, call.attempt);
    return { result: limitReached(config), replayed: false };
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
  const executed = refusal ? { result: refusal, events: [] } : execute(tx, turn, call, effect);
  // What is read of an artifact is its text, or is written in a step of its own, which ends with the result for the model.
  const result =
    call.tool === 'artifacts.read'
      ? executed.result
      : withUrgentNotice(tx, turn, { id, agent: call.agent }, executed.result);
  tx.run(
    `UPDATE tool_calls SET status = :status, output_json = :output, error_code = :code, image_json = :image,
       ended_at_ms = :now WHERE id = :id`,
    {
      id,
      image: keptImage(result),
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
  for (const event of executed.events) tx.emit(event);
  if (refusal) noteRefusedCall(tx, turn, call.attempt);
  if (refusal?.code === 'workspace-too-large') noteUncapturedCall(tx, turn.id, step);
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
    // An error of the server, or one that will pass, is not the tool's outcome: it is not recorded, and the runner
    // tries again.
    if (!isSuzumioError(error) || error.status >= 500) throw error;
    const result: RecordedResult = { ok: false, code: error.code, message: error.message, refused: false };
    return { result, events: [] };
  }
}

/** The step of a call from a runner that names no steps: its number in the attempt. */
function nextUnnamedStep(tx: Tx, call: ToolCall): string {
  tx.run('UPDATE turn_attempts SET unnamed_calls = unnamed_calls + 1 WHERE turn_id = :turn AND number = :attempt', {
    turn: call.turn,
    attempt: call.attempt,
  });
  return `${unnamedPrefix}${String(attemptRow(tx, call.turn, call.attempt)?.unnamed_calls ?? 1)}`;
}

/** Refuses a call that the journal contradicts. Whoever goes on contradicting it ends its turn. */
export function contradicted(tx: Tx, turn: TurnRow, call: ToolCall & { step: string }, error: unknown): RecordedResult {
  if (!isSuzumioError(error, 'journal-mismatch')) throw error;
  const result = recordRefusal(tx, call, error.code, error.message);
  if (call.step.startsWith(unnamedPrefix)) failTurn(tx, turn, { code: 'journal-mismatch', message: error.message });
  else noteContradiction(tx, turn, call.attempt, error.message);
  return result;
}
