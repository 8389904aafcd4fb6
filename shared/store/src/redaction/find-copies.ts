import type { SqlReader } from '../sqlite/sql.js';

/** Rows in which a text may stand that is being redacted, or its name. */
export interface CopyRows {
  messages: number[];
  events: number[];
  artifacts: number[];
  turns: string[];
}

/** What was there when a search began: what is newer, or might have changed since, is searched in the transaction. */
export interface SearchedRows {
  found: CopyRows;
  until: Readonly<Record<NumberedTable, number>>;
  /** Turns that may still have come to hold it. */
  unsettled: readonly string[];
}

type NumberedTable = 'messages' | 'events' | 'artifacts' | 'turns';

/** So many rows are looked through before other work has its turn. */
const sliceRows = { messages: 500, events: 2_000, artifacts: 2_000, turns: 20 } as const;

/** Where each table has text that others wrote. */
const texts = {
  messages: ['body'],
  events: ['data_json'],
  artifacts: ['description', 'workspace_path'],
  turns: ['prompt', 'input_json', 'output_text', 'usage_json', 'failure_json'],
} as const;

const ofTurns = {
  turn_steps: ['result_json', 'attached_json'],
  tool_calls: ['input_json', 'output_json'],
  turn_attempts: ['failure_json', 'stats_json'],
} as const;

/** Searches all that a project has recorded, a little at a time, outside any transaction. */
export async function findCopies(reader: SqlReader, patterns: readonly string[]): Promise<SearchedRows> {
  const until = {
    messages: newest(reader, 'messages'),
    events: newest(reader, 'events'),
    artifacts: newest(reader, 'artifacts'),
    turns: newest(reader, 'turns'),
  };
  const unsettled = unsettledTurns(reader);
  const found = none();
  let wanted = patterns;
  for (const table of ['messages', 'events', 'artifacts', 'turns'] as const) {
    for (let from = 0; from < until[table]; from += sliceRows[table]) {
      const to = Math.min(from + sliceRows[table], until[table]);
      add(found, table, search(reader, table, wanted, { from, to }));
      await new Promise(setImmediate);
    }
    // What tells of them tells how they begin.
    if (table === 'messages') wanted = [...patterns, ...idsOf(reader, found.messages)];
  }
  return { found, until, unsettled };
}

/** The rows that were found before, and those of what has come since. */
export function copiesNow(reader: SqlReader, patterns: readonly string[], searched: SearchedRows): CopyRows {
  const { found, until, unsettled } = searched;
  const now = { ...found };
  let wanted = patterns;
  for (const table of ['messages', 'events', 'artifacts', 'turns'] as const) {
    const before = now.messages.length;
    add(now, table, search(reader, table, wanted, { from: until[table], to: newest(reader, table) }));
    if (table === 'turns')
      add(
        now,
        table,
        unsettled.filter((turn) => holds(reader, turn, wanted)),
      );
    if (table === 'messages') wanted = [...patterns, ...idsOf(reader, now.messages.slice(before))];
  }
  return now;
}

/** Holds of rows that have one of the patterns in a column. */
export function holdsAny(columns: readonly string[], patterns: readonly string[]): string {
  const tests = columns.flatMap((column) =>
    patterns.map((_pattern, index) => `instr(coalesce(${column}, ''), :p${String(index)}) > 0`),
  );
  return tests.length === 0 ? 'false' : `(${tests.join(' OR ')})`;
}

/** The parameters of {@link holdsAny}. */
export function patternParams(patterns: readonly string[]): Record<string, string> {
  return Object.fromEntries(patterns.map((pattern, index) => [`p${String(index)}`, pattern]));
}

/** Whether a turn does by now. */
function holds(reader: SqlReader, turn: string, patterns: readonly string[]): boolean {
  const row = reader.get<{ seq: number }>('SELECT seq FROM turns WHERE id = :turn', { turn });
  return row !== undefined && search(reader, 'turns', patterns, { from: row.seq - 1, to: row.seq }).length > 0;
}

function search(
  reader: SqlReader,
  table: NumberedTable,
  patterns: readonly string[],
  { from, to }: { from: number; to: number },
): (number | string)[] {
  if (from >= to || patterns.length === 0) return [];
  const inTable = holdsAny(texts[table], patterns);
  const inOthers = Object.entries(ofTurns).map(
    ([other, columns]) => `EXISTS (SELECT 1 FROM ${other} WHERE turn_id = turns.id AND ${holdsAny(columns, patterns)})`,
  );
  const condition = table === 'turns' ? `(${[inTable, ...inOthers].join(' OR ')})` : inTable;
  return reader
    .all<{ key: number | string }>(
      `SELECT ${table === 'turns' ? 'id' : 'seq'} AS key FROM ${table} WHERE seq > :from AND seq <= :to AND ${condition}`,
      { from, to, ...patternParams(patterns) },
    )
    .map(({ key }) => key);
}

function add(rows: CopyRows, table: NumberedTable, keys: readonly (number | string)[]): void {
  if (table === 'turns') rows.turns = [...new Set([...rows.turns, ...(keys as string[])])];
  else rows[table] = [...rows[table], ...(keys as number[])];
}

function idsOf(reader: SqlReader, messages: readonly number[]): string[] {
  const sql = 'SELECT id FROM messages WHERE seq IN (SELECT value FROM json_each(:messages))';
  return reader.all<{ id: string }>(sql, { messages: JSON.stringify(messages) }).map(({ id }) => id);
}

function none(): CopyRows {
  return { messages: [], events: [], artifacts: [], turns: [] };
}

function newest(reader: SqlReader, table: NumberedTable): number {
  return reader.get<{ seq: number }>(`SELECT coalesce(max(seq), 0) AS seq FROM ${table}`)?.seq ?? 0;
}

/** Turns that are not over, and those of which a call of a model is still awaited. */
function unsettledTurns(reader: SqlReader): string[] {
  return reader
    .all<{ id: string }>(
      `SELECT id FROM turns WHERE status IN ('queued', 'running')
       UNION SELECT turn_id FROM model_calls WHERE status = 'running'`,
    )
    .map(({ id }) => id);
}
