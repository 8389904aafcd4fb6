import { type RedactObject, redactJson } from '@suzumio/core/redaction/redact-json';
import { keptImage } from '../content/call-images.js';
import { anyRequest, type RecordedResult } from '../journal.js';
import type { SqlValue } from '../sqlite/sql.js';
import type { Tx } from '../sqlite/tx.js';

/** How what is recorded is made free of what is redacted. */
export interface Rewriting {
  text: (text: string) => string;
  /** @param byWriter whether it is of the turn that wrote what is redacted */
  object: (byWriter: boolean) => RedactObject;
  /** The turn that wrote it. */
  writer: string | null;
  /** How messages begin now that held a copy, by their ids. */
  excerpts?: ReadonlyMap<string, string>;
}

/** A JSON column without what is redacted; the same where nothing of it was there. */
export function redactedJson(json: string, rewriting: Rewriting, byWriter = false): string {
  const value: unknown = JSON.parse(json);
  const object = rewriting.object(byWriter);
  const redacted = redactJson(value, {
    text: rewriting.text,
    object: (part) => object(withExcerpt(part, rewriting.excerpts)),
  });
  return redacted === value ? json : JSON.stringify(redacted);
}

/** A beginning may have too little of a copy to be known for one. */
function withExcerpt(part: Record<string, unknown>, excerpts: Rewriting['excerpts']): Record<string, unknown> {
  if (excerpts === undefined || typeof part['excerpt'] !== 'string') return part;
  const named = [part['message'], part['task'], part['id']].find((id) => typeof id === 'string' && excerpts.has(id));
  const excerpt = typeof named === 'string' ? excerpts.get(named) : undefined;
  return excerpt === undefined || excerpt === part['excerpt'] ? part : { ...part, excerpt };
}

interface TurnTexts {
  prompt: string | null;
  input_json: string | null;
  output_text: string | null;
  usage_json: string | null;
  failure_json: string | null;
}

/**
 * Redacts all that is recorded of a turn: what it was told, asked and answered, and what its calls came to. A call whose
 * own words are redacted is known by its place alone from then on.
 *
 * @returns whether anything changed
 */
export function redactTurn(tx: Tx, turn: string, rewriting: Rewriting): boolean {
  const byWriter = turn === rewriting.writer;
  const json = (column: string | null) => (column === null ? null : redactedJson(column, rewriting, byWriter));
  const text = (column: string | null) => (column === null ? null : rewriting.text(column));
  const steps = redactSteps(tx, turn, json);
  const calls = redactCalls(tx, turn, json, steps);
  const attempts = redactAttempts(tx, turn, json);
  const row = tx.get<TurnTexts>(
    'SELECT prompt, input_json, output_text, usage_json, failure_json FROM turns WHERE id = :turn',
    { turn },
  );
  if (!row) return false;
  const redacted = {
    prompt: text(row.prompt),
    input_json: json(row.input_json),
    output_text: text(row.output_text),
    usage_json: json(row.usage_json),
    failure_json: json(row.failure_json),
  };
  const own = update(tx, 'turns', { id: turn }, row, redacted);
  if (!own && steps.size === 0 && !calls && !attempts && !isAttached(tx, turn, json)) return false;
  dropAttached(tx, turn);
  // Providers quote what they were asked.
  tx.run('DELETE FROM model_faults');
  return true;
}

/** Whether a provider has attached something to an answer that contains it. */
function isAttached(tx: Tx, turn: string, json: RedactColumn): boolean {
  const rows = tx.all<{ attached: string }>(
    'SELECT attached_json AS attached FROM turn_steps WHERE turn_id = :turn AND attached_json IS NOT NULL',
    { turn },
  );
  return rows.some(({ attached }) => json(attached) !== attached);
}

/**
 * Removes what providers attached to the answers of a turn and of the agent's later ones, which were shown it: it may contain
 * anything, in a form that only they read.
 */
export function dropAttached(tx: Tx, turn: string): void {
  tx.run(
    `UPDATE turn_steps SET attached_json = 'null' WHERE attached_json IS NOT NULL AND turn_id IN (
       SELECT later.id FROM turns CROSS JOIN turns AS later
         ON later.agent_id = turns.agent_id AND later.number >= turns.number
       WHERE turns.id = :turn)`,
    { turn },
  );
}

/** Writes those columns of a row that have changed. */
export function update<Row extends Record<string, SqlValue>>(
  tx: Tx,
  table: string,
  key: Record<string, SqlValue>,
  before: Row,
  after: Row,
): boolean {
  const changed = Object.keys(after).filter((column) => after[column] !== before[column]);
  if (changed.length === 0) return false;
  const sets = changed.map((column) => `${column} = :${column}`).join(', ');
  const where = Object.keys(key).map((column) => `${column} = :key_${column}`);
  const params = Object.fromEntries(Object.entries(key).map(([column, value]) => [`key_${column}`, value]));
  for (const column of changed) params[column] = after[column] ?? null;
  tx.run(`UPDATE ${table} SET ${sets} WHERE ${where.join(' AND ')}`, params);
  return true;
}

type RedactColumn = (column: string | null) => string | null;

/** @returns what is recorded at the steps that have changed */
function redactSteps(tx: Tx, turn: string, json: RedactColumn): Map<string, string> {
  const changed = new Map<string, string>();
  const rows = tx.all<{ key: string; result_json: string }>(
    'SELECT key, result_json FROM turn_steps WHERE turn_id = :turn',
    { turn },
  );
  for (const { key, ...row } of rows) {
    const result_json = json(row.result_json) ?? '';
    if (update(tx, 'turn_steps', { turn_id: turn, key }, row, { result_json })) changed.set(key, result_json);
  }
  return changed;
}

interface CallTexts {
  input_json: string;
  output_json: string | null;
  image_json: string | null;
}

function redactCalls(tx: Tx, turn: string, json: RedactColumn, steps: ReadonlyMap<string, string>): boolean {
  const rows = tx.all<CallTexts & { id: string; step: string }>(
    'SELECT id, step, input_json, output_json, image_json FROM tool_calls WHERE turn_id = :turn',
    { turn },
  );
  let changed = false;
  for (const { id, step, ...row } of rows) {
    const result = steps.get(step);
    const redacted = {
      input_json: json(row.input_json) ?? '',
      output_json: result === undefined ? json(row.output_json) : outputOf(result),
      image_json: result === undefined ? row.image_json : keptImage(JSON.parse(result) as RecordedResult),
    };
    if (!update(tx, 'tool_calls', { id }, { ...row }, redacted)) continue;
    changed = true;
    if (redacted.input_json === row.input_json) continue;
    // Who repeats it may use the words that were redacted, or what stands for them.
    tx.run('UPDATE turn_steps SET request_hash = :any WHERE turn_id = :turn AND key = :step', {
      any: anyRequest,
      turn,
      step,
    });
    tx.run('UPDATE tool_calls SET request_hash = :any WHERE id = :id AND request_hash IS NOT NULL', {
      any: anyRequest,
      id,
    });
  }
  return changed;
}

/** What a call's row tells of a journaled result. */
function outputOf(resultJson: string): string {
  const result = JSON.parse(resultJson) as { response?: { output?: unknown }; code?: unknown; message?: unknown };
  return JSON.stringify(
    result.response ? (result.response.output ?? null) : { code: result.code, message: result.message },
  );
}

function redactAttempts(tx: Tx, turn: string, json: RedactColumn): boolean {
  const rows = tx.all<{ number: number; failure_json: string | null; stats_json: string | null }>(
    'SELECT number, failure_json, stats_json FROM turn_attempts WHERE turn_id = :turn',
    { turn },
  );
  let changed = false;
  for (const { number, ...row } of rows) {
    const redacted = { failure_json: json(row.failure_json), stats_json: json(row.stats_json) };
    changed = update(tx, 'turn_attempts', { turn_id: turn, number }, { ...row }, redacted) || changed;
  }
  return changed;
}
