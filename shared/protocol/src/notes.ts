import { beginningOf, endOf } from './cut-text.js';
import { isBlank } from './call-in-text.js';
import type { ModelAnswer } from './model-chat.js';
import { visibleText } from './visible-text.js';

// Notes replace an agent's earlier turns when these are too long to show; its model writes them for itself. The
// ToolHost stores them, and the runner continues with them in the turn in which they were written: by the same rules.

/**
 * The notes in an answer that was to sum up. Undefined where there are none, because the model only reasoned, refused,
 * or was withheld: the turns they replace would be lost.
 */
export function notesIn({ text: written, refusal, finishReason }: ModelAnswer): string | undefined {
  const { text } = visibleText(written);
  return isBlank(text) || refusal !== undefined || finishReason === 'content_filter' ? undefined : text;
}

/** The notes by the older rule, for a turn that continued by it: thoughts are part of them. */
export function olderNotesIn({ text, refusal, finishReason }: ModelAnswer): string | undefined {
  return text.trim() === '' || refusal !== undefined || finishReason === 'content_filter' ? undefined : text;
}

/** Notes as shown to the model, cut so that endless ones leave room for the rest. */
export function toldNotes(notes: string, contextLimit = Infinity): string {
  return beginningOf(notes, Math.floor(contextLimit * 0.75));
}

/** The newest part of a transcript, which matters most, as much as a model reads at once beside its notes. */
export function toldTranscript(transcript: string, contextLimit: number): string {
  return endOf(transcript, transcriptRoom(contextLimit));
}

/** How many characters of a transcript a model reads at once beside its notes. */
export function transcriptRoom(contextLimit: number): number {
  return Math.floor(contextLimit * 1.5);
}
