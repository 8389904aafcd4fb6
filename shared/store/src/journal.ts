import { createHash } from 'node:crypto';
import type { ErrorCode } from '@suzumio/contract/errors/codes';
import { SuzumioError } from '@suzumio/contract/errors/suzumio-error';
import type { ModelAnswer } from '@suzumio/protocol/model-chat';
import type { ToolResponse } from '@suzumio/protocol/runner';
import type { SandboxRefusalCode } from '@suzumio/protocol/sandbox-tools/refusals';
import type { SqlReader } from './sqlite/sql.js';
import type { Tx } from './sqlite/tx.js';

// The journal keeps the result of each step of a turn. A later attempt repeats its steps and is given the recorded
// results: nothing takes effect twice, and no answer is paid for twice.

/** A step: its place in the turn, and the hash of its request. */
export interface Step {
  turn: string;
  /** `<n>` of a question to the model, `<n>.<i>` of a call in its answer. */
  step: string;
  requestHash: string;
}

/** How a question to a model ended. */
export type RecordedAnswer =
  | {
      ok: true;
      answer: ModelAnswer;
      /** Whether the answer is a summary of earlier turns, and no part of this one. */
      summary?: true;
      /** What was sent otherwise than the preset says, after a refusal, in words. */
      changes?: string[];
    }
  | { ok: false; code: ErrorCode; message: string };

/** Where an answer comes from, and what came with it for its provider alone. */
export interface AnswerOrigin {
  /** The model at its endpoint; null where that is not known. */
  by: string | null;
  /** What it attached; JSON `null` where that was too much. */
  attachedJson?: string | null | undefined;
}

/** How a call of a tool ended. */
export type RecordedResult =
  | { ok: true; response: ToolResponse }
  | { ok: false; code: ErrorCode; message: string; refused: boolean };
export type RecordedRefusal = Extract<RecordedResult, { ok: false }>;

/** In place of a redacted request's hash: any request at this step gets the recorded result. */
export const anyRequest = '';

/** How a step in the sandbox ended. */
export type RecordedStep = RecordedResult | { ok: false; code: SandboxRefusalCode; message: string; refused: false };

/** The hash of a step's request: equal requests have equal hashes. */
export function requestHash(kind: string, asked: unknown): string {
  return createHash('sha256')
    .update(canonicalJson([kind, asked]))
    .digest('hex');
}

/**
 * The recorded answer to a question, where there is one.
 *
 * @throws SuzumioError `journal-mismatch` when something else was asked at this step
 */
export function recordedAnswer(reader: SqlReader, step: Step): RecordedAnswer | undefined {
  return recorded(reader, step, 'asked something else');
}

/**
 * The recorded result of a call, where there is one.
 *
 * @throws SuzumioError `journal-mismatch` when another call was made at this step
 */
export function recordedResult(reader: SqlReader, step: Step): RecordedResult | undefined {
  return recorded(reader, step, 'was another call');
}

/** The record at a step, without comparing requests. */
export function resultAt<Result extends RecordedAnswer | RecordedStep>(
  reader: SqlReader,
  turn: string,
  step: string,
): Result | undefined {
  const json = jsonAt(reader, turn, step);
  return json === undefined ? undefined : (JSON.parse(json) as Result);
}

/** The same as stored JSON, for callers that limit how much they read. */
export function jsonAt(reader: SqlReader, turn: string, step: string): string | undefined {
  return rowAt(reader, turn, step)?.result_json;
}

/** How long the record at a step is, which is not read for that; 0 where there is none. */
export function recordedBytes(reader: SqlReader, turn: string, step: string): number {
  const size = 'SELECT octet_length(result_json) AS bytes FROM turn_steps WHERE turn_id = :turn AND key = :step';
  return reader.get<{ bytes: number }>(size, { turn, step })?.bytes ?? 0;
}

/**
 * Records the result of a step. The first recorded result counts.
 *
 * @returns the recorded result: another process may have been first
 */
export function recordStep<Result extends RecordedAnswer | RecordedResult>(
  tx: Tx,
  { turn, step, requestHash, attempt }: Step & { attempt: number },
  result: Result,
  { by, attachedJson = null }: AnswerOrigin = { by: null },
): Result {
  const { changes } = tx.run(
    `INSERT INTO turn_steps (turn_id, key, attempt, request_hash, result_json, answered_by, attached_json, recorded_at_ms)
     VALUES (:turn, :step, :attempt, :requestHash, :result, :by, :attached, :now) ON CONFLICT (turn_id, key) DO NOTHING`,
    { turn, step, attempt, requestHash, result: JSON.stringify(result), by, attached: attachedJson, now: tx.nowMs },
  );
  return changes === 1 ? result : (resultAt<Result>(tx, turn, step) ?? result);
}

/** Records what came of a step that may run again, over what came of it before. */
export function replaceStep(
  tx: Tx,
  { turn, step, requestHash, attempt }: Step & { attempt: number },
  result: RecordedStep,
): void {
  tx.run(
    `INSERT INTO turn_steps (turn_id, key, attempt, request_hash, result_json, recorded_at_ms)
     VALUES (:turn, :step, :attempt, :requestHash, :result, :now) ON CONFLICT (turn_id, key) DO UPDATE SET
       attempt = excluded.attempt, request_hash = excluded.request_hash, result_json = excluded.result_json,
       recorded_at_ms = excluded.recorded_at_ms`,
    { turn, step, attempt, requestHash, result: JSON.stringify(result), now: tx.nowMs },
  );
}

function recorded<Result>(reader: SqlReader, { turn, step, requestHash }: Step, before: string): Result | undefined {
  const row = rowAt(reader, turn, step);
  if (!row) return undefined;
  if (row.request_hash === requestHash || row.request_hash === anyRequest) return JSON.parse(row.result_json) as Result;
  throw new SuzumioError(
    'journal-mismatch',
    `Step ${step} of ${turn} ${before} before; a turn must repeat its steps as they were.`,
    { turn, step },
  );
}

function rowAt(reader: SqlReader, turn: string, step: string) {
  return reader.get<{ request_hash: string; result_json: string }>(
    'SELECT request_hash, result_json FROM turn_steps WHERE turn_id = :turn AND key = :step',
    { turn, step },
  );
}

/** JSON with sorted keys: the same value is the same text. */
function canonicalJson(value: unknown): string {
  return JSON.stringify(value, (_key, part: unknown) =>
    typeof part === 'object' && part !== null && !Array.isArray(part)
      ? Object.fromEntries(Object.entries(part).sort(([a], [b]) => (a < b ? -1 : 1)))
      : part,
  );
}
