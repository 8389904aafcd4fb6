import { projectRow, type TurnRow } from '../rows.js';
import type { SqlReader } from '../sqlite/sql.js';
import type { Tx } from '../sqlite/tx.js';
import { writerOf } from './agent-notes.js';
import { type NewNote, noteBytes, type NoteText } from './notes.js';

// Notes of a profile are in the catalog, which no transaction on a project reaches. A call of a tool writes what it does
// to them into the project's own database, in the transaction that records the call; from there each change is carried
// to the catalog, which knows up to where it has them. So a change is made once, whatever is killed in between.

/** What an agent did to the notes of its profile. */
export type ProfileChange = { note: NewNote; atMs: number } | { forget: string };

/** A change that the catalog may not have yet. */
export interface DueChange {
  seq: number;
  epoch: number;
  profile: string;
  change: ProfileChange;
}

type Turn = Pick<TurnRow, 'id' | 'agent_id' | 'number'>;

/** Has a note added to the memory of a profile; returns its id. */
export function noteForProfile(tx: Tx, profile: string, { text, tags }: NoteText, turn: Turn): string {
  const note = { id: tx.newId('note'), text, tags, ...writerOf(tx, { turn }) };
  put(tx, profile, { note, atMs: tx.nowMs });
  const data = { note: note.id, sizeBytes: noteBytes(note), profile };
  tx.emit({ type: 'memory.noted', actor: turn.agent_id, agent: turn.agent_id, turn: turn.id, data });
  return note.id;
}

/** Has a note of a profile erased, if it is there. */
export function forgetNoteOfProfile(tx: Tx, profile: string, note: string, turn: Turn): void {
  put(tx, profile, { forget: note });
  const data = { note, profile };
  tx.emit({ type: 'memory.forgotten', actor: turn.agent_id, agent: turn.agent_id, turn: turn.id, data });
}

/** The first changes that are due, in order. */
export function dueProfileChanges(reader: SqlReader, limit: number): DueChange[] {
  return reader
    .all<{ seq: number; epoch: number; profile: string; change_json: string }>(
      'SELECT seq, epoch, profile_id AS profile, change_json FROM profile_changes ORDER BY seq LIMIT :limit',
      { limit },
    )
    .map(({ change_json, ...due }) => ({ ...due, change: JSON.parse(change_json) as ProfileChange }));
}

/** Whether any are. A database that is only read may be of an earlier version. */
export function hasDueProfileChanges(reader: SqlReader): boolean {
  if (!reader.get(`SELECT 1 FROM sqlite_schema WHERE name = 'profile_changes'`)) return false;
  return reader.get('SELECT 1 FROM profile_changes LIMIT 1') !== undefined;
}

/** Removes changes that the catalog has. */
export function dropProfileChanges(tx: Tx, throughSeq: number): void {
  tx.run('DELETE FROM profile_changes WHERE seq <= :throughSeq', { throughSeq });
}

function put(tx: Tx, profile: string, change: ProfileChange): void {
  const { epoch } = projectRow(tx);
  tx.insert('profile_changes', { epoch, profile_id: profile, change_json: JSON.stringify(change) });
}
