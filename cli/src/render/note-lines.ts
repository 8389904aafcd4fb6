import type { MemoryUse, NoteView } from '@suzumio/contract/model/note';
import { bytesInWords } from '@suzumio/contract/model/storage';
import { oneLine, visibleLines } from '@suzumio/core/prompt/body';
import type { Session } from '../session.js';
import { dayAndTime } from './format.js';

/** A note with who wrote it; its text is indented, so that none passes for the line above it. */
export function noteLines(note: NoteView, { context }: Session): string[] {
  const { id, text, tags, author, project, turn, createdAt, version, editedBy, editedAt } = note;
  const where = turn === null ? '' : ` (turn ${oneLine(turn)} of ${oneLine(project ?? '')})`;
  const edited =
    editedAt === null
      ? ''
      : `, version ${String(version)} by ${oneLine(editedBy ?? '')} ${dayAndTime(editedAt, context)}`;
  const tagged = tags.length === 0 ? '' : `   [${tags.map(oneLine).join(', ')}]`;
  return [
    `${id}   ${dayAndTime(createdAt, context)} by ${oneLine(author)}${where}${edited}${tagged}`,
    ...visibleLines(text.trimEnd()).map((line) => `  ${line}`),
  ];
}

export function usedLine({ notes, maxNotes, bytes, maxBytes }: MemoryUse): string {
  return `${String(notes)} of ${String(maxNotes)} notes, ${bytesInWords(bytes)} of ${bytesInWords(maxBytes)}`;
}
