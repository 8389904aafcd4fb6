import { createHash } from 'node:crypto';
import { isSuzumioError, SuzumioError } from '@suzumio/contract/errors/suzumio-error';
import { callOfWrite } from '@suzumio/protocol/ids';
import type { StepResult } from '@suzumio/protocol/sandbox-steps';
import type { RefUpdate } from '@suzumio/protocol/shared-repository';
import { keptImage } from '../content/call-images.js';
import {
  anyRequest,
  type RecordedRefusal,
  recordedResult,
  type RecordedStep,
  replaceStep,
  resultAt,
} from '../journal.js';
import { attemptRow, turnRow } from '../rows.js';
import type { SqlReader } from '../sqlite/sql.js';
import type { Tx } from '../sqlite/tx.js';
import { assertRunning, type AttemptId, authorizeTool } from './authorize.js';
import { contradicted } from './record-tool-call.js';
import { noteRefusedCall } from './refusal-limits.js';
import { emitCalled, isRecorded, statusOf } from './refuse-tool-call.js';
import { withUrgentNotice } from './urgent-notice.js';
import { limitReached, recordedCalls, refusalOf, type ToolCall } from './tool-call-refusal.js';

// A step in the sandbox takes effect where no transaction reaches. It is on record before it begins, and what came of it
// once it has ended. A later attempt begins with the newest capture of the workspace: steps that the capture covers are
// answered from the journal, and later ones are taken again. What they come to then replaces what is recorded: nothing in the
// journal depends on them, because the workspace is captured before a question or call leaves the sandbox.

/** A call that names its step. */
export type SandboxCall = ToolCall & { step: string };

/** What a runner is told that begins a step: to carry it out, or what came of it. */
export type BegunStep = 'begun' | { result: RecordedStep; replayed: boolean };

/** How many pushes of an interrupted step are told. */
const maxToldPushes = 20;

interface StepRow {
  id: string;
  tool: string;
  attempt: number;
  status: 'running' | 'succeeded' | 'failed' | 'refused' | 'unknown';
  request_hash: string;
  result_hash: string | null;
  /** 1 where a later attempt is given its result: its effects are in the turn's newest capture. */
  captured: number;
  /** 1 where it has reached outside of the sandbox. */
  marked: number;
  started_at_ms: number;
  ended_at_ms: number | null;
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
  if (row?.marked && row.attempt !== call.attempt) return { result: leftUnknown(tx, row, call), replayed: false };

  const made = madeBefore(tx, call, row);
  const config = tx.configAt(turn.config_version);
  if (!isRecorded(config, made)) {
    noteRefusedCall(tx, turn, call.attempt);
    return { result: limitReached(config), replayed: false };
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
  const row = requireBegun(tx, at);
  const hash = createHash('sha256').update(JSON.stringify(told)).digest('hex');
  if (row.status !== 'running') {
    const result = resultAt<RecordedStep>(tx, turn, step);
    if (row.result_hash === hash && result) return { tool: row.tool, result, replayed: true };
    throw new SuzumioError('step-ended', `Step ${step} has ended with another result, which stands.`);
  }
  const result = withUrgentNotice(tx, turnRow(tx, turn), { id: row.id, agent }, recordable(told));
  endRow(tx, row.id, result, hash);
  replaceStep(tx, { turn, step, attempt, requestHash: row.request_hash }, result);
  emitCalled(tx, { agent, turn, attempt, tool: row.tool }, step, result);
  return { tool: row.tool, result, replayed: false };
}

/**
 * The row of a step that an attempt has begun.
 *
 * @throws SuzumioError `step-not-begun`
 */
export function requireBegun(
  reader: SqlReader,
  { turn, step, attempt }: Pick<ToolCall, 'turn' | 'attempt'> & { step: string },
): StepRow {
  const row = stepRow(reader, turn, step);
  if (row?.attempt === attempt && row.status !== 'refused') return row;
  throw new SuzumioError('step-not-begun', `This attempt has not begun step ${step}; begin it with POST /tool/begin.`);
}

/**
 * Notes that steps of an attempt reach outside of the sandbox, before they do: they are never repeated.
 *
 * @throws SuzumioError `attempt-over`; `invalid-request` for a step that the attempt is not taking
 */
export function markSteps(tx: Tx, id: AttemptId, steps: readonly string[]): void {
  const { turn, attempt } = id;
  assertRunning(attemptRow(tx, turn, attempt), id);
  for (const step of steps) {
    const { changes } = tx.run(
      `UPDATE tool_calls SET marked = 1 WHERE turn_id = :turn AND step = :step AND attempt = :attempt
         AND request_hash IS NOT NULL AND status = 'running'`,
      { turn, attempt, step },
    );
    if (changes !== 1) throw new SuzumioError('invalid-request', `This attempt is not taking a step ${step}.`);
  }
}

/** How many calls of the turn count against its limit. A step that was taken before, or belongs to a call, is within it. */
function madeBefore(reader: SqlReader, { turn, step }: SandboxCall, row: StepRow | undefined): number {
  if ((row && row.status !== 'refused') || callOfWrite(step) !== undefined) return 0;
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
  if (!row) return recordedElsewhere(reader, call);
  const isOwn = row.attempt === call.attempt;
  if (!isOwn && isTakenAgain(row)) return { row };
  if (![call.requestHash, anyRequest].includes(row.request_hash)) {
    // What was refused has done nothing: after a step that came out otherwise, another call may be made there.
    return !isOwn && row.status === 'refused' ? { row } : { row, contradiction: mismatch(call) };
  }
  const isOpen = isOwn ? row.status === 'running' : row.captured === 0 && row.status !== 'refused';
  return { row, recorded: isOpen ? undefined : resultAt(reader, call.turn, call.step) };
}

/** Whether a later attempt takes a step again: no capture has its effects, and there were none outside of the workspace. */
function isTakenAgain({ status, captured, marked }: StepRow): boolean {
  return status !== 'refused' && captured === 0 && marked === 0;
}

/** What is recorded at a step that was never begun in the sandbox. */
function recordedElsewhere(reader: SqlReader, call: SandboxCall): KnownStep {
  try {
    return { recorded: recordedResult(reader, call) };
  } catch (error) {
    if (isSuzumioError(error, 'journal-mismatch')) return { contradiction: error };
    throw error;
  }
}

function mismatch({ turn, step }: SandboxCall): SuzumioError {
  return new SuzumioError('journal-mismatch', `Step ${step} of ${turn} was begun as another call.`, { turn, step });
}

/**
 * Ends a step that reached outside and is in no capture: it is never repeated, and its result, if there is one, was told to
 * nobody. What it has pushed to the shared repository is on record, and is its result then. Later attempts are told the same.
 */
function leftUnknown(tx: Tx, row: StepRow, call: SandboxCall): RecordedStep {
  const { id, tool } = row;
  const result: RecordedStep = pushedBy(tx, row, call) ?? {
    ok: false,
    code: 'outcome-unknown',
    message: `${tool} had reached outside of the sandbox when the turn was interrupted, so it is not repeated, and nobody knows what came of it. Files that it wrote may be missing. Find out before you do it again.`,
    refused: false,
  };
  endRow(tx, id, result);
  tx.run('UPDATE tool_calls SET attempt = :attempt, captured = 1 WHERE id = :id', { id, attempt: call.attempt });
  replaceStep(tx, call, result);
  emitCalled(tx, call, call.step, result);
  return result;
}

/** What an interrupted step has pushed; undefined where it has not, and may have done anything else. */
function pushedBy(reader: SqlReader, step: StepRow, { turn }: SandboxCall): RecordedStep | undefined {
  const rows = reader.all<{ updates: string }>(
    `SELECT updates_json AS updates FROM git_pushes
     WHERE turn_id = :turn AND attempt = :attempt AND created_at_ms BETWEEN :from AND :to ORDER BY seq LIMIT :most`,
    {
      turn,
      attempt: step.attempt,
      from: step.started_at_ms,
      to: step.ended_at_ms ?? Number.MAX_SAFE_INTEGER,
      most: maxToldPushes,
    },
  );
  if (rows.length === 0) return undefined;
  const pushed = rows.flatMap(({ updates }) => JSON.parse(updates) as RefUpdate[]);
  const lines = pushed.map(({ ref, to }) => {
    const now =
      reader.get<{ id: string }>('SELECT object_id AS id FROM git_refs WHERE name = :ref', { ref })?.id ?? null;
    if (now === to) return to === null ? `${ref} is deleted` : `${ref} is at ${to}`;
    return `${ref} was ${to === null ? 'deleted' : `moved to ${to}`}, and is ${now === null ? 'gone' : `at ${now}`} by now`;
  });
  const note =
    '[interrupted after it had pushed to the shared repository, so it is not repeated: what it printed is lost, files that it ' +
    'wrote may be missing, and what it was to do afterwards may not be done. Fetch what was pushed:]';
  return {
    ok: true,
    response: { output: [note, ...lines].join('\n'), metadata: { interrupted: true, pushed } },
  };
}

function stepRow(reader: SqlReader, turn: string, step: string): StepRow | undefined {
  return reader.get<StepRow>(
    `SELECT id, tool, attempt, status, request_hash, result_hash, captured, marked, started_at_ms, ended_at_ms FROM tool_calls
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
    `UPDATE tool_calls SET status = :status, output_json = :output, error_code = :code, result_hash = :hash, image_json = :image,
       ended_at_ms = :now
     WHERE id = :id`,
    {
      id,
      status: statusOf(result),
      output: JSON.stringify(result.ok ? result.response.output : { code: result.code, message: result.message }),
      code: result.ok ? null : result.code,
      hash,
      image: keptImage(result),
      now: tx.nowMs,
    },
  );
}

function recordable(told: StepResult): RecordedStep {
  if ('error' in told) return { ok: false, ...told.error, refused: false };
  return { ok: true, response: told };
}
