import { redactedSentence, type Redaction } from '@suzumio/contract/model/redaction';
import { redactedMark } from '@suzumio/core/redaction/copies';
import { hasNotes, type NoteText } from '../memory/notes.js';
import { iso } from '../sqlite/page.js';
import type { SqlReader } from '../sqlite/sql.js';
import { findCopies } from './find-copies.js';

/** What a project has recorded of a note, also of one that was changed or erased since. */
export interface NoteRecord {
  /** What it said, each text once. */
  versions: NoteText[];
  /** Agents and profiles whose note it is or was. */
  owners: ReadonlySet<string>;
  /** The turn that wrote it. */
  writer: string | null;
  redacted: Redaction | null;
}

/** Reads all that a project has of a note, a little at a time: who wrote and who was shown it. */
export async function noteRecord(reader: SqlReader, note: string): Promise<NoteRecord> {
  const none = { versions: [], owners: new Set<string>(), writer: null, redacted: null };
  if (!/^note_\w{1,60}$/.test(note) || !hasNotes(reader)) return none;
  const { found } = await findCopies(reader, [note]);
  const redacted = noteRedaction(reader, note, found.events);
  const owners = new Set(ownersIn(reader, note, found.events));
  const texts = [...keptTexts(reader, note), ...carriedTexts(reader, note)];
  let writer: string | null = null;
  for (const turn of found.turns) {
    for (const { tool, input, result, answer, profile } of callsOfNotes(reader, turn, note)) {
      if (tool === 'memory.note') {
        if (noteIn(result) !== note) continue;
        writer = turn;
        texts.push(...textsOfCall(input, answer));
      } else {
        const shown = shownIn(result).filter((one) => field(one, 'id') === note);
        if (profile !== null && shown.some((one) => field(one, 'scope') === 'profile')) owners.add(profile);
        texts.push(...shown.flatMap(writtenIn));
      }
    }
  }
  const gone = [redactedMark, ...(redacted ? [redactedSentence('note', redacted)] : [])];
  const versions = new Map(texts.filter(({ text }) => !gone.includes(text)).map((one) => [one.text, one]));
  return { versions: [...versions.values()], owners, writer, redacted };
}

/** How a note was redacted, by one of some events. */
export function noteRedaction(reader: SqlReader, note: string, events: readonly number[]): Redaction | null {
  const row = reader.get<{ actor: string; because: string | null; at: number }>(
    `SELECT actor, data_json ->> 'because' AS because, created_at_ms AS at FROM events
     WHERE seq IN (SELECT value FROM json_each(:events)) AND type = 'memory.redacted' AND data_json ->> 'note' = :note
     ORDER BY seq LIMIT 1`,
    { events: JSON.stringify(events), note },
  );
  return row ? { at: iso(row.at), by: row.actor, because: row.because } : null;
}

function ownersIn(reader: SqlReader, note: string, events: readonly number[]): string[] {
  return reader
    .all<{ owner: string }>(
      `SELECT owner FROM notes WHERE id = :note
       UNION SELECT coalesce(data_json ->> 'profile', agent_id) AS owner FROM events
       WHERE seq IN (SELECT value FROM json_each(:events)) AND type IN ('memory.noted', 'memory.redacted')
         AND data_json ->> 'note' = :note AND owner IS NOT NULL`,
      { events: JSON.stringify(events), note },
    )
    .map(({ owner }) => owner);
}

/** In a memory itself, and in answers that are kept for repeated requests of people: of a project, or the catalog. */
export function keptTexts(reader: SqlReader, note: string): NoteText[] {
  if (!hasNotes(reader)) return [];
  return textsIn(
    reader,
    `SELECT json_object('text', text, 'tags', json(tags_json)) AS json FROM notes WHERE id = :note
     UNION ALL SELECT note FROM (SELECT coalesce(response_json -> 'note', response_json) AS note FROM idempotency_keys)
       WHERE note ->> 'id' = :note`,
    note,
  );
}

/** On the way to the memory of a profile. */
function carriedTexts(reader: SqlReader, note: string): NoteText[] {
  const noted = `SELECT change_json -> 'note' AS json FROM profile_changes WHERE change_json -> 'note' ->> 'id' = :note`;
  return textsIn(reader, noted, note);
}

function textsIn(reader: SqlReader, sql: string, note: string): NoteText[] {
  return reader.all<{ json: string }>(sql, { note }).flatMap(({ json }) => writtenIn(JSON.parse(json)));
}

interface NoteCall {
  tool: string;
  input: unknown;
  result: unknown;
  /** The model's, which asked for it. */
  answer: unknown;
  /** That of the agent. */
  profile: string | null;
}

function callsOfNotes(reader: SqlReader, turn: string, note: string): NoteCall[] {
  const rows = reader.all<{
    tool: string;
    input: string;
    result: string;
    answer: string | null;
    profile: string | null;
  }>(
    `SELECT tool, input_json AS input, steps.result_json AS result, answers.result_json AS answer, profile_id AS profile
     FROM tool_calls
     JOIN turn_steps AS steps ON steps.turn_id = tool_calls.turn_id AND steps.key = step
     JOIN agents ON agents.id = agent_id
     LEFT JOIN turn_steps AS answers ON answers.turn_id = tool_calls.turn_id
       AND answers.key = substr(step, 1, instr(step, '.') - 1) AND tool = 'memory.note'
     WHERE tool_calls.turn_id = :turn AND tool IN ('memory.note', 'memory.search', 'memory.list')
       AND instr(steps.result_json, :note) > 0`,
    { turn, note },
  );
  return rows.map(({ input, result, answer, ...row }) => ({
    ...row,
    input: JSON.parse(input) as unknown,
    result: JSON.parse(result) as unknown,
    answer: answer === null ? null : (JSON.parse(answer) as unknown),
  }));
}

function noteIn(result: unknown): unknown {
  return field(field(field(result, 'response'), 'metadata'), 'note');
}

function shownIn(result: unknown): unknown[] {
  return items(field(field(field(result, 'response'), 'metadata'), 'notes'));
}

/** What a call was to note: where its input was too long to be kept, as much as was, and what the model had asked for. */
function textsOfCall(input: unknown, answer: unknown): NoteText[] {
  const cut = field(input, 'cut');
  if (typeof cut !== 'string') return writtenIn(input);
  const [, kept] = /"text":"((?:[^"\\]|\\u[0-9a-f]{4}|\\[^u])*)/.exec(cut) ?? [];
  if (kept === undefined) return [];
  const beginning = JSON.parse(`"${kept}"`) as string;
  const asked = items(field(field(answer, 'answer'), 'toolCalls')).flatMap((call) => {
    const written = field(call, 'arguments');
    return typeof written === 'string' ? writtenIn(parsedOrNothing(written)) : [];
  });
  return [{ text: beginning, tags: [] }, ...asked.filter(({ text }) => text.startsWith(beginning))];
}

function writtenIn(value: unknown): NoteText[] {
  const text = field(value, 'text');
  const tags = items(field(value, 'tags')).filter((tag) => typeof tag === 'string');
  return typeof text === 'string' ? [{ text, tags }] : [];
}

function parsedOrNothing(json: string): unknown {
  try {
    return JSON.parse(json) as unknown;
  } catch {
    return undefined;
  }
}

function field(value: unknown, name: string): unknown {
  return typeof value === 'object' && value !== null ? (value as Record<string, unknown>)[name] : undefined;
}

function items(value: unknown): unknown[] {
  return Array.isArray(value) ? value : [];
}
