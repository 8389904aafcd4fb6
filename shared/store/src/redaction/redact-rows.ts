import { excerptOf } from '../mail/excerpt.js';
import { emptyIndex } from '../mail/index-messages.js';
import { rebuildNoteIndex } from '../memory/notes.js';
import type { SqlValue } from '../sqlite/sql.js';
import type { Tx } from '../sqlite/tx.js';
import { beginAnew } from './begin-anew.js';
import { copiesNow, holdsAny, patternParams, type SearchedRows } from './find-copies.js';
import { dropAttached, redactedJson, redactTurn, type Rewriting, update } from './redact-turn.js';

/**
 * Removes copies from everything that was recorded, beside the row of what is redacted itself. Agents of whose turns
 * something goes begin anew without it.
 *
 * @param turns some in which there are copies that are known by other means
 */
export function redactRows(
  tx: Tx,
  searched: SearchedRows,
  patterns: readonly string[],
  known: Rewriting,
  turns: readonly string[] = [],
): void {
  const rows = copiesNow(tx, patterns, searched);
  const rewriting = { ...known, excerpts: redactMail(tx, rows.messages, known) };
  for (const seq of rows.artifacts) {
    redactColumns(tx, 'artifacts', { seq }, { description: rewriting.text, workspace_path: rewriting.text });
  }
  const json = (column: string) => redactedJson(column, rewriting);
  for (const seq of rows.events) redactColumns(tx, 'events', { seq }, { data_json: json });
  for (const agent of redactAgents(tx, [...new Set([...rows.turns, ...turns])], patterns, rewriting))
    beginAnew(tx, agent);
  redactNotes(tx, patterns, rewriting);
  for (const key of keysHolding(tx, 'idempotency_keys', ['token', 'route', 'key'], 'response_json', patterns)) {
    redactColumns(tx, 'idempotency_keys', key, { response_json: json });
  }
}

/** @returns how the messages begin now that held a copy */
function redactMail(tx: Tx, messages: readonly number[], { text }: Rewriting): Map<string, string> {
  const excerpts = new Map<string, string>();
  if (messages.length > 0) emptyIndex(tx);
  for (const seq of messages) {
    if (!redactColumns(tx, 'messages', { seq }, { body: text })) continue;
    const row = tx.get<{ id: string; body: string }>('SELECT id, body FROM messages WHERE seq = :seq', { seq });
    if (row) excerpts.set(row.id, excerptOf(row.body));
  }
  return excerpts;
}

/** @returns the agents that know something no more */
function redactAgents(
  tx: Tx,
  turns: readonly string[],
  patterns: readonly string[],
  rewriting: Rewriting,
): Set<string> {
  const agents = new Set<string>();
  for (const turn of turns) {
    if (!redactTurn(tx, turn, rewriting)) continue;
    const row = tx.get<{ agent: string }>('SELECT agent_id AS agent FROM turns WHERE id = :turn', { turn });
    if (row) agents.add(row.agent);
  }
  for (const key of keysHolding(tx, 'agent_summaries', ['agent_id', 'through_number'], 'text', patterns)) {
    if (!redactColumns(tx, 'agent_summaries', key, { text: rewriting.text })) continue;
    agents.add(String(key['agent_id']));
    const { turn } = tx.get<{ turn: string }>(
      'SELECT turn_id AS turn FROM agent_summaries WHERE agent_id = :agent_id AND through_number = :through_number',
      key,
    ) ?? { turn: '' };
    dropAttached(tx, turn);
  }
  for (const key of keysHolding(tx, 'agents', ['id'], 'failure_json', patterns)) {
    redactColumns(tx, 'agents', key, { failure_json: (column) => redactedJson(column, rewriting) });
  }
  return agents;
}

/** Notes of agents, and those of profiles that the catalog does not have yet. */
function redactNotes(tx: Tx, patterns: readonly string[], rewriting: Rewriting): void {
  const held = keysHolding(tx, 'notes', ['seq'], 'text', patterns);
  for (const key of held) redactColumns(tx, 'notes', key, { text: rewriting.text });
  if (held.length > 0) rebuildNoteIndex(tx);
  for (const key of keysHolding(tx, 'profile_changes', ['seq'], 'change_json', patterns)) {
    redactColumns(tx, 'profile_changes', key, { change_json: (column) => redactedJson(column, rewriting) });
  }
}

function keysHolding(
  tx: Tx,
  table: string,
  key: readonly string[],
  column: string,
  patterns: readonly string[],
): Record<string, SqlValue>[] {
  const holds = `SELECT ${key.join(', ')} FROM ${table} WHERE ${holdsAny([column], patterns)}`;
  return tx.all<Record<string, SqlValue>>(holds, patternParams(patterns));
}

function redactColumns(
  tx: Tx,
  table: string,
  key: Record<string, SqlValue>,
  columns: Readonly<Record<string, (text: string) => string>>,
): boolean {
  const where = Object.keys(key).map((column) => `${column} = :${column}`);
  const names = Object.keys(columns);
  const row = tx.get<Record<string, string | null>>(
    `SELECT ${names.join(', ')} FROM ${table} WHERE ${where.join(' AND ')}`,
    key,
  );
  if (!row) return false;
  const redacted = Object.fromEntries(
    names.map((name) => [name, typeof row[name] === 'string' ? (columns[name]?.(row[name]) ?? null) : null]),
  );
  return update(tx, table, key, row, redacted);
}
