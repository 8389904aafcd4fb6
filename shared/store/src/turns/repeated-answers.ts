import { SuzumioError } from '@suzumio/contract/errors/suzumio-error';
import type { AnswerReading, AnswerReference } from '@suzumio/protocol/model-chat';
import type { SqlReader } from '../sqlite/sql.js';

/** An answer that a message of a conversation repeats. */
export interface RepeatedAnswer {
  turn: string;
  step: string;
  /** The model at its endpoint; null for answers of before that was recorded. */
  by: string | null;
  /** How much it attached, in bytes; 0 for nothing. */
  attachedBytes: number;
}

/** By what a runner refers to the answer that is recorded at a step; undefined where there is none. */
export function referenceTo(reader: SqlReader, turn: string, step: string): AnswerReference | undefined {
  return referencesOf(reader, turn, step).get(step);
}

/**
 * What was made of the answer at a step: null where no question followed, undefined where one did from a runner without
 * readings.
 */
export function readingAt(reader: SqlReader, turn: string, step: string): AnswerReading | null | undefined {
  const row = reader.get<{ reading: AnswerReading | null; has_next: number }>(
    `SELECT reading, EXISTS (
       SELECT 1 FROM model_calls AS later WHERE later.turn_id = :turn AND later.seq > asked.seq AND later.step <> :step
     ) AS has_next
     FROM model_calls AS asked WHERE turn_id = :turn AND step = :step AND status = 'answered' ORDER BY seq DESC LIMIT 1`,
    { turn, step },
  );
  return row?.reading ?? (row?.has_next === 0 ? null : undefined);
}

/** What was made of a turn's answers, by step, as far as it is known. */
export function readingsOf(reader: SqlReader, turn: string): Map<string, AnswerReading> {
  const rows = reader.all<{ step: string; reading: AnswerReading }>(
    'SELECT step, reading FROM model_calls WHERE turn_id = :turn AND reading IS NOT NULL ORDER BY seq',
    { turn },
  );
  return new Map(rows.map(({ step, reading }) => [step, reading]));
}

/** By what the answers of a turn are referred to, by step. */
export function referencesOf(reader: SqlReader, turn: string, step?: string): Map<string, AnswerReference> {
  const rows = reader.all<{ id: string; step: string; bytes: number | null }>(
    `SELECT id, step, nullif(octet_length(attached_json), ${String(lostBytes)}) AS bytes
     FROM model_calls JOIN turn_steps ON turn_steps.turn_id = model_calls.turn_id AND key = step
     WHERE model_calls.turn_id = :turn AND status = 'answered' AND (:step IS NULL OR step = :step) ORDER BY seq DESC`,
    { turn, step: step ?? null },
  );
  return new Map(
    rows.map(({ id, step: at, bytes }) => [at, { answer: id, ...(bytes === null ? {} : { attachedBytes: bytes }) }]),
  );
}

/**
 * The answers that references name, by these.
 *
 * @throws SuzumioError `answer-unknown` where one is no answer of the agent's
 */
export function repeatedAnswers(
  reader: SqlReader,
  agent: string,
  references: readonly AnswerReference[],
): Map<string, RepeatedAnswer> {
  if (references.length === 0) return new Map();
  const ids = references.map(({ answer }) => answer);
  const rows = reader.all<RepeatedAnswer & { id: string }>(
    `SELECT id, model_calls.turn_id AS turn, step, answered_by AS "by", coalesce(octet_length(attached_json), 0) AS attachedBytes
     FROM model_calls JOIN turn_steps ON turn_steps.turn_id = model_calls.turn_id AND key = step
     WHERE id IN (SELECT value FROM json_each(:ids)) AND agent_id = :agent`,
    { ids: JSON.stringify(ids), agent },
  );
  const found = new Map(rows.map(({ id, ...answer }) => [id, answer]));
  const unknown = ids.find((id) => !found.has(id));
  if (unknown === undefined) return found;
  throw new SuzumioError(
    'answer-unknown',
    `Agent ${agent} was given no answer ${JSON.stringify(unknown)} in this project: repeat the field "suzumio" of a message as it came, or leave it out.`,
  );
}

/** What an answer attached, as JSON. */
export function attachedTo(reader: SqlReader, { turn, step }: Pick<RepeatedAnswer, 'turn' | 'step'>): string | null {
  const row = reader.get<{ json: string | null }>(
    'SELECT attached_json AS json FROM turn_steps WHERE turn_id = :turn AND key = :step',
    { turn, step },
  );
  return row?.json ?? null;
}

/** The preset that has answered last in a turn, if any has. */
export function lastAnsweringPreset(reader: SqlReader, turn: string): string | undefined {
  return reader.get<{ preset: string }>(
    `SELECT preset FROM model_calls WHERE turn_id = :turn AND status = 'answered' ORDER BY seq DESC LIMIT 1`,
    { turn },
  )?.preset;
}

/** The length of the JSON that stands for what is no longer there. */
const lostBytes = 'null'.length;
