import type { NoteView } from '@suzumio/contract/model/note';
import { agentRow, projectRow, type TurnRow } from '../rows.js';
import type { SqlReader } from '../sqlite/sql.js';
import type { Tx } from '../sqlite/tx.js';
import { addNote, editNote, forgetNote, noteBytes, type NoteChange, type NoteOwner, type NoteText } from './notes.js';

/**
 * An agent as the owner of notes.
 *
 * @throws SuzumioError `agent-unknown`
 */
export function agentOwner(reader: SqlReader, agent: string): NoteOwner {
  const { id } = agentRow(reader, agent);
  return { id, name: `agent ${id}` };
}

/** Who does something to the notes of an agent: itself in a turn, or a person. */
export type NoteActor = { turn: Pick<TurnRow, 'id' | 'agent_id' | 'number'> } | { actor: string };

/** @throws SuzumioError `agent-unknown`, `memory-full` */
export function noteForAgent(tx: Tx, agent: string, note: NoteText, by: NoteActor): NoteView {
  const owner = agentOwner(tx, agent);
  const added = addNote(tx, owner, { ...note, id: tx.newId('note'), ...writerOf(tx, by) });
  tx.emit({ type: 'memory.noted', ...about(agent, by), data: { note: added.id, sizeBytes: noteBytes(added) } });
  return added;
}

/** @throws SuzumioError `agent-unknown`, `note-unknown`, `edit-conflict`, `memory-full` */
export function editNoteOfAgent(tx: Tx, agent: string, id: string, change: NoteChange): NoteView {
  const note = editNote(tx, agentOwner(tx, agent), id, change);
  tx.emit({ type: 'memory.edited', actor: change.actor, agent, data: { note: id, sizeBytes: noteBytes(note) } });
  return note;
}

/**
 * @param base the version that was read before, if it matters
 * @throws SuzumioError `agent-unknown`, `note-unknown`, `edit-conflict`
 */
export function forgetNoteOfAgent(tx: Tx, agent: string, id: string, by: NoteActor, base?: number): void {
  forgetNote(tx, agentOwner(tx, agent), id, base);
  tx.emit({ type: 'memory.forgotten', ...about(agent, by), data: { note: id } });
}

/** As a note has its writer. */
export function writerOf(reader: SqlReader, by: NoteActor): { author: string; project?: string; turn?: string } {
  if ('actor' in by) return { author: by.actor };
  const { agent_id: author, number } = by.turn;
  return { author, project: projectRow(reader).id, turn: `${author}:${String(number)}` };
}

function about(agent: string, by: NoteActor): { actor: string; agent: string; turn?: string } {
  return 'actor' in by ? { actor: by.actor, agent } : { actor: agent, agent, turn: by.turn.id };
}
