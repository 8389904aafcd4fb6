import { createHash } from 'node:crypto';
import { isSuzumioError, SuzumioError } from '@suzumio/contract/errors/suzumio-error';
import type { StepResult } from '@suzumio/protocol/sandbox-steps';
import {
  anyRequest,
  type RecordedRefusal,
  recordedResult,
  type RecordedStep,
  replaceStep,
  resultAt,
} from '../journal.js';
import { turnRow } from '../rows.js';
import type { SqlReader } from '../sqlite/sql.js';
import type { Tx } from '../sqlite/tx.js';
import { authorizeTool } from './authorize.js';
import { contradicted } from './record-tool-call.js';
import { noteRefusedCall } from './refusal-limits.js';
import { emitCalled, isRecorded, statusOf } from './refuse-tool-call.js';
import { limitReached, recordedCalls, refusalOf, type ToolCall } from './tool-call-refusal.js';

// A step in the sandbox takes effect where no transaction reaches. It is on record before it begins, and what came of it
// once it has ended. An attempt that comes later begins with the workspace as it was before the turn, so it takes the step
// again; what it comes to then replaces what is recorded.

/** A call that names its step. */
export type SandboxCall = ToolCall & { step: string };

/** What a runner is told that begins a step: to carry it out, or what came of it. */
export type BegunStep = 'begun' | { result: RecordedStep; replayed: boolean };

interface StepRow {
  id: string;
  tool: string;
  attempt: number;
  status: 'running' | 'succeeded' | 'failed' | 'refused' | 'unknown';
  request_hash: string;
  result_hash: string | null;
}

/**
 * Begins a step in the sandbox: allowed and counted as every call is. An attempt that asks twice is told the same twice.
 *
 * @param known why the call is refused, where that was found before
 * @throws SuzumioError `token-rejected`
 */
export function beginSandboxStep(tx: Tx, call: SandboxCall, known?: RecordedRefusal): BegunStep {
  authorizeTool(tx, call);
  const turn = turnRow(tx, call.turn);
  const { row, recorded, contradiction } = stepAt(tx, call);
  if (contradiction) return { result: contradicted(tx, turn, call, contradiction), replayed: false };
  if (row?.attempt === call.attempt && row.status === 'running') return 'begun';
  if (recorded) return { result: recorded, replayed: true };

  const made = madeBefore(tx, call, row);
  if (!isRecorded(tx, made)) {
    noteRefusedCall(tx, turn, call.attempt);
    return { result: limitReached(tx.config), replayed: false };
  }
  const refusal = known ?? refusalOf(tx, tx, call, turn, made);
  const id = row ? replaced(tx, row, call) : inserted(tx, call);
  if (!refusal) return 'begun';
  endRow(tx, id, refusal);
  replaceStep(tx, call, refusal);
  emitCalled(tx, call, call.step, refusal);
  noteRefusedCall(tx, turn, call.attempt);
  return { result: refusal, replayed: false };
}

/** Why a step may not be taken: asked before it is begun, and again where that is recorded. */
export function stepRefusal(
  reader: SqlReader,
  settings: Parameters<typeof refusalOf>[1],
  call: SandboxCall,
): RecordedRefusal | undefined {
  const made = madeBefore(reader, call, stepRow(reader, call.turn, call.step));
  return refusalOf(reader, settings, call, turnRow(reader, call.turn), made);
}

/**
 * What beginning a step comes to that needs no transaction.
 *
 * @returns undefined where it does
 */
export function recordedStep(reader: SqlReader, call: SandboxCall): RecordedStep | undefined {
  const { row, recorded, contradiction } = stepAt(reader, call);
  return contradiction || row?.status === 'running' ? undefined : recorded;
}

/**
 * Ends a step that this attempt has begun. The same end is taken as often as it comes.
 *
 * @returns the result on record, and whether it was there before
 * @throws SuzumioError `token-rejected`; `step-not-begun`; `step-ended` with another result
 */
export function endSandboxStep(
  tx: Tx,
  at: Pick<ToolCall, 'turn' | 'attempt' | 'tokenHash'> & { step: string },
  told: StepResult,
): { tool: string; result: RecordedStep; replayed: boolean } {
  const { agent } = authorizeTool(tx, at);
  const { turn, step, attempt } = at;
  const row = stepRow(tx, turn, step);
  if (row?.attempt !== attempt || row.status === 'refused') {
    throw new SuzumioError(
      'step-not-begun',
      `This attempt has not begun step ${step}; begin it with POST /tool/begin.`,
    );
  }
  const hash = createHash('sha256').update(JSON.stringify(told)).digest('hex');
  if (row.status !== 'running') {
    const result = resultAt<RecordedStep>(tx, turn, step);
    if (row.result_hash === hash && result) return { tool: row.tool, result, replayed: true };
    throw new SuzumioError('step-ended', `Step ${step} has ended with another result, which stands.`);
  }
  const result = recordable(told);
  endRow(tx, row.id, result, hash);
  const standing = isBuiltOn(tx, turn, step) ? resultAt<RecordedStep>(tx, turn, step) : undefined;
  if (!standing) replaceStep(tx, { turn, step, attempt, requestHash: row.request_hash }, result);
  emitCalled(tx, { agent, turn, attempt, tool: row.tool }, step, result);
  return { tool: row.tool, result: standing ?? result, replayed: false };
}

/** How many calls of the turn count against its limit. A step that was taken before was within it. */
function madeBefore(reader: SqlReader, { turn }: SandboxCall, row: StepRow | undefined): number {
  if (row && row.status !== 'refused') return 0;
  return recordedCalls(reader, turn) - (row ? 1 : 0);
}

/** What is known of a step: its row, the result that this attempt is given for it, and what it is contradicted by. */
interface KnownStep {
  row?: StepRow | undefined;
  recorded?: RecordedStep | undefined;
  contradiction?: SuzumioError;
}

function stepAt(reader: SqlReader, call: SandboxCall): KnownStep {
  const row = stepRow(reader, call.turn, call.step);
  if (row?.attempt === call.attempt) {
    if (![call.requestHash, anyRequest].includes(row.request_hash)) return { row, contradiction: mismatch(call) };
    return { row, recorded: row.status === 'running' ? undefined : resultAt(reader, call.turn, call.step) };
  }
  // What nothing was built on may also be asked otherwise.
  if (row && !isBuiltOn(reader, call.turn, call.step)) return { row };
  try {
    const recorded = recordedResult(reader, call);
    // What was refused has done nothing; all else is to be done again.
    const isGiven = !row || (recorded?.ok === false && recorded.refused);
    return { row, recorded: isGiven ? recorded : undefined };
  } catch (error) {
    if (isSuzumioError(error, 'journal-mismatch')) return { row, contradiction: error };
    throw error;
  }
}

function mismatch({ turn, step }: SandboxCall): SuzumioError {
  return new SuzumioError('journal-mismatch', `Step ${step} of ${turn} was begun as another call.`, { turn, step });
}

/**
 * Whether something in the journal may be built on a step: a question that was asked, or a call that was made, further on in
 * the turn. Whoever comes there again has to come with the same, so the step's result stays what it was, although the step is
 * taken again.
 */
function isBuiltOn(reader: SqlReader, turn: string, step: string): boolean {
  const further = reader.get(
    `SELECT 1 FROM turn_steps WHERE turn_id = :turn AND CAST(key AS INTEGER) > CAST(:step AS INTEGER)
       AND key NOT IN (SELECT step FROM tool_calls WHERE turn_id = :turn AND request_hash IS NOT NULL)
     UNION ALL SELECT 1 FROM model_calls WHERE turn_id = :turn AND status = 'running'
       AND CAST(step AS INTEGER) > CAST(:step AS INTEGER)
     LIMIT 1`,
    { turn, step },
  );
  return further !== undefined;
}

function stepRow(reader: SqlReader, turn: string, step: string): StepRow | undefined {
  return reader.get<StepRow>(
    `SELECT id, tool, attempt, status, request_hash, result_hash FROM tool_calls
     WHERE turn_id = :turn AND step = :step AND request_hash IS NOT NULL`,
    { turn, step },
  );
}

function inserted(tx: Tx, call: SandboxCall): string {
  const id = tx.newId('call');
  tx.insert('tool_calls', {
    id,
    turn_id: call.turn,
    agent_id: call.agent,
    attempt: call.attempt,
    step: call.step,
    tool: call.tool,
    input_json: call.input.json,
    request_hash: call.requestHash,
    status: 'running',
    started_at_ms: tx.nowMs,
  });
  return id;
}

function replaced(tx: Tx, { id }: StepRow, { attempt, tool, input, requestHash }: SandboxCall): string {
  tx.run(
    `UPDATE tool_calls SET attempt = :attempt, tool = :tool, input_json = :input, request_hash = :requestHash,
       status = 'running', output_json = NULL, error_code = NULL, result_hash = NULL, started_at_ms = :now, ended_at_ms = NULL
     WHERE id = :id`,
    { id, attempt, tool, input: input.json, requestHash, now: tx.nowMs },
  );
  return id;
}

function endRow(tx: Tx, id: string, result: RecordedStep, hash: string | null = null): void {
  tx.run(
    `UPDATE tool_calls SET status = :status, output_json = :output, error_code = :code, result_hash = :hash, ended_at_ms = :now
     WHERE id = :id`,
    {
      id,
      status: statusOf(result),
      output: JSON.stringify(result.ok ? result.response.output : { code: result.code, message: result.message }),
      code: result.ok ? null : result.code,
      hash,
      now: tx.nowMs,
    },
  );
}

function recordable(told: StepResult): RecordedStep {
  if ('error' in told) return { ok: false, ...told.error, refused: false };
  return { ok: true, response: told };
}
