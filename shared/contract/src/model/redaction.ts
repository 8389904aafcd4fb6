import * as z from 'zod';

/** That the content of a message, an artifact or a note was removed. */
export const redaction = z.object({
  at: z.iso.datetime(),
  by: z.string().describe('The name of the token that it was done with.'),
  because: z.string().nullable(),
});
export type Redaction = z.infer<typeof redaction>;

/** The reason that is asked with, and kept. */
export const redactionReason = z.string().trim().min(1).max(200);

/** What a redaction leaves: for a while, or for as long as somebody else uses it. */
export const redactionLeft = z.object({
  what: z
    .enum(['database', 'content', 'copies', 'projects'])
    .describe(
      "`database`: free space of the database's files, which is rewritten later; `content`: stored bytes that others use; `copies`: copies of the database from before it was migrated; `projects`: projects that cannot be read.",
    ),
  detail: z.string(),
});
export type RedactionLeft = z.infer<typeof redactionLeft>;

type RedactedThing = 'message' | 'artifact' | 'note';

/** What a reader finds in the place of what was removed. */
export function redactedSentence(what: RedactedThing, redacted: Redaction): string {
  return `[${redactedWords(what, redacted)}]`;
}

/** The same as a sentence by itself. */
export function redactedWords(what: RedactedThing, { at, by, because }: Redaction): string {
  return `This ${what} was redacted by ${by} at ${at}${because === null ? '.' : `: ${because}`}`;
}
