import type { ErrorCode } from '@suzumio/contract/errors/codes';
import type { ProjectConfig } from '@suzumio/contract/model/project-config';
import type { RecordedResult, RecordedStep } from '../journal.js';
import { turnRow } from '../rows.js';
import type { Tx } from '../sqlite/tx.js';
import { authorizeTool } from './authorize.js';
import { configOfTurn } from './turn-config.js';
import { noteRefusedCall } from './refusal-limits.js';
import { recordedCalls, type ToolCall } from './tool-call-refusal.js';

/**
 * Refuses a call that has no step in the journal. One too many ends its turn.
 *
 * @throws SuzumioError `token-rejected`
 */
export function refuseToolCall(tx: Tx, call: ToolCall, code: ErrorCode, message: string): void {
  authorizeTool(tx, call);
  recordRefusal(tx, call, code, message);
  noteRefusedCall(tx, turnRow(tx, call.turn), call.attempt);
}

/** Records a call that was refused before it had a step, within a turn's limit of such records. */
export function recordRefusal(tx: Tx, call: ToolCall, code: ErrorCode, message: string): RecordedResult {
  const result: RecordedResult = { ok: false, code, message, refused: true };
  if (!isRecorded(configOfTurn(tx, tx, call.turn), recordedCalls(tx, call.turn))) return result;
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

/** Emits the event of a call that was made or refused. */
export function emitCalled(
  tx: Tx,
  call: Pick<ToolCall, 'agent' | 'turn' | 'attempt' | 'tool'>,
  step: string,
  result: RecordedStep,
): void {
  tx.emit({
    type: 'tool.called',
    actor: call.agent,
    agent: call.agent,
    turn: call.turn,
    data: {
      tool: call.tool,
      step,
      attempt: call.attempt,
      outcome: statusOf(result),
      code: result.ok ? undefined : result.code,
    },
  });
}

/** How a call ended, for its row. */
export function statusOf(result: RecordedStep): 'succeeded' | 'failed' | 'refused' {
  if (result.ok) return 'succeeded';
  return result.refused ? 'refused' : 'failed';
}

/**
 * Whether a call leaves a row. Calls beyond the turn's limit are recorded, to show what it was up to, but their number
 * is limited, too, so that no runner fills the disk with refusals.
 */
export function isRecorded({ turn }: ProjectConfig, made: number): boolean {
  return made < 2 * turn.maxToolCalls;
}
