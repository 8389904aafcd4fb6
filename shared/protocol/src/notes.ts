import { beginningOf, endOf } from './cut-text.js';
import type { ModelAnswer } from './model-chat.js';

// What stands for an agent's earlier turns when they are too long to be told: notes that its model wrote for itself. The
// ToolHost keeps them, and the runner goes on with them in the turn in which they were made: by the same rules.

/**
 * The notes in an answer that was to sum up. Undefined where there are none, as when a model came to nothing but thoughts,
 * refused, or was withheld: what they would stand for would be gone.
 */
export function notesIn({ text, refusal, finishReason }: ModelAnswer): string | undefined {
  if (text.trim() === '' || refusal !== undefined || finishReason === 'content_filter') return undefined;
  return text;
}

/** Notes as they are told: a model that does not come to an end leaves room for the rest all the same. */
export function toldNotes(notes: string, contextLimit = Infinity): string {
  return beginningOf(notes, Math.floor(contextLimit * 0.75));
}

/** As much of a transcript as a model reads at once beside its notes: the newest of it, which matters most. */
export function toldTranscript(transcript: string, contextLimit: number): string {
  return endOf(transcript, transcriptRoom(contextLimit));
}

/** How many characters of a transcript a model reads at once beside its notes. */
export function transcriptRoom(contextLimit: number): number {
  return Math.floor(contextLimit * 1.5);
}
