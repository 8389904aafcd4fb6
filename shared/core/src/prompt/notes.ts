import type { NoteView } from '@suzumio/contract/model/note';
import { oneLine, renderBody, token } from './body.js';

/** How much an agent keeps in mind. */
export interface PromptNotes {
  /** Notes of its own, and of the profile that it started from. */
  readonly own: number;
  readonly profile: number;
  /** What it finds them with, by the name that it calls that by. */
  readonly searchedWith: string;
}

/** The line on an agent's notes; nothing where there are none. */
export function renderNotesLine(notes: PromptNotes | undefined): string[] {
  if (notes === undefined || notes.own + notes.profile === 0) return [];
  const { own, profile, searchedWith } = notes;
  const whose = [
    ...(own > 0 ? [`${String(own)} of your own`] : []),
    ...(profile > 0 ? [`${String(profile)} of your profile`] : []),
  ];
  return [`# Notes: ${whose.join(', ')}; ${searchedWith} finds them by words`, ''];
}

/**
 * A note as a tool shows it. Like mail it stands in a frame that it cannot leave: whatever it says, it is something that was
 * written down, no order.
 */
export function renderNote(note: NoteView, scope: 'agent' | 'profile'): string {
  const { id, text, tags, author, project, turn, createdAt, editedAt } = note;
  const by = turn === null ? token(author) : `${token(turn)} in ${token(project ?? '')}`;
  const head = [
    `${token(id)}, ${scope === 'agent' ? 'yours' : "your profile's"}, by ${by}`,
    toSeconds(createdAt),
    ...(editedAt === null ? [] : [`changed ${toSeconds(editedAt)}`]),
    ...(tags.length === 0 ? [] : [`tags: ${tags.map(oneLine).join(', ')}`]),
  ];
  return [`[${head.join(', ')}]`, renderBody(text), `[end ${token(id)}]`].join('\n');
}

const toSeconds = (at: string) => at.replace(/\.\d+Z$/, 'Z');
