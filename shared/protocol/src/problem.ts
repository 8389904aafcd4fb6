import * as z from 'zod';

/** The media type of every error answer (RFC 9457). */
export const problemMediaType = 'application/problem+json';

/** An error answer. */
export const problem = z.looseObject({
  type: z.string(),
  title: z.string(),
  status: z.int().min(400).max(599),
  code: z.string().describe('What is wrong: a stable code.'),
  detail: z.string().describe('The same for a person, with what would be right. It may change.'),
  retryable: z.boolean().optional().describe('Whether the same request may succeed later.'),
});

export type Problem = z.infer<typeof problem>;
