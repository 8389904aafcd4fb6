import * as z from 'zod';
import { plainText } from '@suzumio/protocol/plain-text';
import { withoutSpaces } from './search.js';

/** The longest text of a note, in bytes. */
export const maxNoteBytes = 8 * 1024;
/** What one agent, or one profile, keeps in mind at the most: notes, and bytes of their texts and tags. */
export const maxNotes = 1000;
export const maxMemoryBytes = 1024 * 1024;
const maxTags = 8;

const noteText = plainText
  .refine((text) => /\S/.test(text), { error: 'must not be empty' })
  .refine((text) => Buffer.byteLength(text) <= maxNoteBytes, { error: `at most ${String(maxNoteBytes)} bytes` });

/** A word or a few, of characters that end no line and close no frame. */
const tag = z
  .string()
  .max(40)
  .regex(/^[\p{L}\p{N}](?:[\p{L}\p{M}\p{N} ._/#:+-]*[\p{L}\p{M}\p{N}])?$/u, {
    error: 'expected letters, digits and any of " ._/#:+-" between them',
  });

/** What is written in a note. */
export const noteFields = {
  text: noteText.describe(`What is to be kept in mind, in at most ${String(maxNoteBytes)} bytes.`),
  tags: z
    .array(tag)
    .max(maxTags)
    .describe(`Words that it is found by, beside its own: at most ${String(maxTags)} of 40 characters.`),
} as const;

/** Something that an agent, or every agent of a profile, keeps in mind beyond its turns. */
export const noteView = z.object({
  id: z.string(),
  seq: z.int().describe('Its place in the list.'),
  text: z.string(),
  tags: z.array(z.string()),
  author: z.string().describe('Who wrote it: an agent, or the name of a token.'),
  project: z.string().describe('The project in which an agent wrote it.').nullable(),
  turn: z.string().describe('The turn in which an agent wrote it: `agent:number`.').nullable(),
  createdAt: z.iso.datetime(),
  version: z.int().describe('How often it was written: as it was made, it is 1.'),
  editedBy: z.string().describe('The name of the token with which it was last changed.').nullable(),
  editedAt: z.iso.datetime().nullable(),
});
export type NoteView = z.infer<typeof noteView>;

/** How much of a memory is used. */
export const memoryUse = z.object({
  notes: z.int(),
  bytes: z.int().describe('Of texts and tags.'),
  maxNotes: z.int(),
  maxBytes: z.int(),
});
export type MemoryUse = z.infer<typeof memoryUse>;

/** What notes are searched for: those with any of it are found, those with the most of it first. */
export interface NoteSearch {
  /** Words, phrases and beginnings of words as an FTS5 expression; undefined where there are none. */
  match?: string;
  /** Texts in scripts that put no spaces between words: notes are looked through for them. */
  verbatim: string[];
}

const maxQueryChars = 400;
const maxTerms = 32;

export const noteSearchMeaning =
  'Words, in any case and without regard to accents; "a phrase" in quotation marks; or the beginning of a word, such as `pars*`. Notes with any of them are found, in texts and tags, the best first. Nothing else in it means anything.';

/** Any text: whatever FTS5 would take for its own syntax stands in quotation marks. */
export const noteQuery = plainText
  .max(maxQueryChars, { error: `at most ${String(maxQueryChars)} characters` })
  .transform((text, context): NoteSearch => {
    const clean = text.toWellFormed().replace(/\p{Cc}/gu, ' ');
    const terms = [...clean.matchAll(/"([^"]*)"|([^\s"]+)/g)]
      .map(([, phrase, word = '']) => phrase ?? word)
      .filter((term) => /[\p{L}\p{N}]/u.test(term))
      .slice(0, maxTerms);
    if (terms.length === 0) {
      context.addIssue({ code: 'custom', message: 'expected words to look for' });
      return z.NEVER;
    }
    const words = terms.filter((term) => !withoutSpaces.test(term));
    const match = words.map((term) => (term.endsWith('*') ? `"${term.slice(0, -1)}" *` : `"${term}"`)).join(' OR ');
    return { ...(match === '' ? {} : { match }), verbatim: terms.filter((term) => withoutSpaces.test(term)) };
  });
