import { SuzumioError } from '@suzumio/contract/errors/suzumio-error';
import { maxMemoryBytes, maxNotes, type MemoryUse, type NoteSearch, type NoteView } from '@suzumio/contract/model/note';
import { bytesInWords } from '@suzumio/contract/model/storage';
import { iso, type Page, type Part, readPart } from '../sqlite/page.js';
import type { SqlParams, SqlReader } from '../sqlite/sql.js';
import type { Tx } from '../sqlite/tx.js';
import { type Edit, requireNewest } from '../edits.js';

/** Whose notes they are. */
export interface NoteOwner {
  /** An agent, or the id of a profile. */
  id: string;
  /** As it stands in sentences. */
  name: string;
}

export interface NoteText {
  text: string;
  tags: readonly string[];
}

/** What is to change; the rest stays. */
export type NoteChange = { [Field in keyof NoteText]?: NoteText[Field] | undefined } & Edit;

export interface NewNote extends NoteText {
  id: string;
  author: string;
  /** Where an agent wrote it. */
  project?: string | undefined;
  turn?: string | undefined;
}

/** A transaction on a database that has notes. */
export type NotesTx = SqlReader & Pick<Tx, 'nowMs' | 'run'>;

interface NoteRow {
  seq: number;
  id: string;
  text: string;
  tags_json: string;
  author: string;
  project: string | null;
  turn: string | null;
  created_at_ms: number;
  edited_by: string | null;
  edited_at_ms: number | null;
  /** Missing in a database of an earlier version. */
  version?: number;
}

/** @throws SuzumioError `memory-full` */
export function addNote(tx: NotesTx, owner: NoteOwner, note: NewNote): NoteView {
  refuseFull(owner, memoryUse(tx, owner), noteBytes(note));
  insertNote(tx, owner.id, note, tx.nowMs);
  return noteCalled(tx, owner, note.id);
}

/** Adds a note whose place was found before; one that is there stays as it is. */
export function insertNote(tx: NotesTx, owner: string, note: NewNote, atMs: number): void {
  const { id, text, tags, author, project = null, turn = null } = note;
  tx.run(
    `INSERT INTO notes (id, owner, text, tags_json, author, project, turn, created_at_ms)
     VALUES (:id, :owner, :text, :tags, :author, :project, :turn, :atMs) ON CONFLICT (id) DO NOTHING`,
    { id, owner, text, tags: JSON.stringify(tags), author, project, turn, atMs },
  );
}

/**
 * Changes a note; what is not named stays.
 *
 * @throws SuzumioError `note-unknown`, `edit-conflict`, `memory-full`
 */
export function editNote(tx: NotesTx, owner: NoteOwner, id: string, change: NoteChange): NoteView {
  const { text, tags, actor, base } = change;
  const before = noteCalled(tx, owner, id);
  requireNewestNote(owner, before, base);
  const after = { text: text ?? before.text, tags: tags ?? before.tags };
  const more = noteBytes(after) - noteBytes(before);
  const { notes, bytes } = memoryUse(tx, owner);
  if (more > 0) refuseFull(owner, { notes: notes - 1, bytes }, more);
  tx.run(
    `UPDATE notes SET text = :text, tags_json = :tags, edited_by = :actor, edited_at_ms = :nowMs
     WHERE owner = :owner AND id = :id`,
    { text: after.text, tags: JSON.stringify(after.tags), actor, nowMs: tx.nowMs, owner: owner.id, id },
  );
  return noteCalled(tx, owner, id);
}

/**
 * @param base the version that was read before, if it matters
 * @throws SuzumioError `note-unknown`, `edit-conflict`
 */
export function forgetNote(tx: NotesTx, owner: NoteOwner, id: string, base?: number): void {
  requireNewestNote(owner, noteCalled(tx, owner, id), base);
  tx.run('DELETE FROM notes WHERE owner = :owner AND id = :id', { owner: owner.id, id });
}

function requireNewestNote(owner: NoteOwner, note: NoteView, base: number | undefined): void {
  requireNewest(`The note ${note.id} of ${owner.name}`, base, note, []);
}

/** @throws SuzumioError `note-unknown` */
export function noteCalled(reader: SqlReader, owner: NoteOwner, id: string): NoteView {
  const find = 'SELECT * FROM notes WHERE id = :id AND owner = :owner';
  const row = hasNotes(reader) ? reader.get<NoteRow>(find, { id, owner: owner.id }) : undefined;
  if (!row) throw unknownNote(owner, id);
  return viewOf(row);
}

export function listNotes(reader: SqlReader, owner: NoteOwner, page: Page): Part<NoteView> {
  if (!hasNotes(reader)) return { items: [] };
  return readPart<NoteRow, NoteView>(
    reader,
    { from: 'notes', key: 'seq', where: ['owner = :owner'], params: { owner: owner.id }, texts: ['text'] },
    page,
    viewOf,
  );
}

/** The notes that have the most of what is searched for, the best first; then those with texts that are in no index. */
export function searchNotes(
  reader: SqlReader,
  owner: NoteOwner,
  { match, verbatim }: NoteSearch,
  limit: number,
): NoteView[] {
  if (!hasNotes(reader)) return [];
  const found = new Map<string, NoteView>();
  const add = (sql: string, params: SqlParams) => {
    const rows = reader.all<NoteRow>(`${sql} LIMIT :limit`, { ...params, owner: owner.id, limit });
    for (const row of rows) found.set(row.id, found.get(row.id) ?? viewOf(row));
  };
  if (match !== undefined) {
    const ranked = `SELECT notes.* FROM note_words CROSS JOIN notes ON notes.seq = note_words.rowid
      WHERE note_words MATCH :match AND owner = :owner ORDER BY bm25(note_words), seq DESC`;
    add(ranked, { match });
  }
  if (verbatim.length > 0) {
    const has = verbatim.map((_text, at) => `instr(text || tags_json, :v${String(at)}) > 0`).join(' OR ');
    const params = Object.fromEntries(verbatim.map((text, at) => [`v${String(at)}`, text]));
    add(`SELECT * FROM notes WHERE owner = :owner AND (${has}) ORDER BY seq DESC`, params);
  }
  return [...found.values()].slice(0, limit);
}

export function memoryUse(reader: SqlReader, { id: owner }: NoteOwner): MemoryUse {
  const sum = `SELECT count(*) AS notes, coalesce(sum(octet_length(text) + octet_length(tags_json)), 0) AS bytes
    FROM notes WHERE owner = :owner`;
  const used = hasNotes(reader) ? reader.get<{ notes: number; bytes: number }>(sum, { owner }) : undefined;
  return { notes: 0, bytes: 0, ...used, maxNotes, maxBytes: maxMemoryBytes };
}

/** How many notes there are. */
export function countNotes(reader: SqlReader, owner: string): number {
  const count = 'SELECT count(*) AS notes FROM notes WHERE owner = :owner';
  return hasNotes(reader) ? (reader.get<{ notes: number }>(count, { owner })?.notes ?? 0) : 0;
}

/** What a note takes of a memory. */
export function noteBytes({ text, tags }: NoteText): number {
  return Buffer.byteLength(text) + Buffer.byteLength(JSON.stringify(tags));
}

/** @throws SuzumioError `memory-full` where a note of so many bytes has no room */
export function refuseFull(
  { name }: NoteOwner,
  { notes, bytes }: Pick<MemoryUse, 'notes' | 'bytes'>,
  moreBytes: number,
): void {
  if (notes < maxNotes && bytes + moreBytes <= maxMemoryBytes) return;
  throw new SuzumioError(
    'memory-full',
    `The memory of ${name} is full: it holds ${String(notes)} of ${String(maxNotes)} notes and ${bytesInWords(bytes)} of ${bytesInWords(maxMemoryBytes)}. Nothing was noted or changed. Forget notes that are of no more use first: memory.forget, or suzumio memory forget.`,
    { notes, bytes, maxNotes, maxBytes: maxMemoryBytes, neededBytes: moreBytes },
  );
}

/** Words that were removed one by one leave their beginnings in the nodes of the index. */
export function rebuildNoteIndex(tx: NotesTx): void {
  tx.run(`INSERT INTO note_words (note_words) VALUES ('rebuild')`);
}

/** A database that is only read may be of an earlier version. */
export function hasNotes(reader: SqlReader): boolean {
  return reader.get(`SELECT 1 FROM sqlite_schema WHERE name = 'notes'`) !== undefined;
}

export function unknownNote({ name }: Pick<NoteOwner, 'name'>, id: string): SuzumioError {
  const note = id.slice(0, 80);
  return new SuzumioError('note-unknown', `There is no note "${note}" in the memory of ${name}.`, { note });
}

function viewOf(row: NoteRow): NoteView {
  return {
    id: row.id,
    seq: row.seq,
    text: row.text,
    tags: JSON.parse(row.tags_json) as string[],
    author: row.author,
    project: row.project,
    turn: row.turn,
    createdAt: iso(row.created_at_ms),
    version: row.version ?? 1,
    editedBy: row.edited_by,
    editedAt: iso(row.edited_at_ms),
  };
}
