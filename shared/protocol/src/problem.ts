import * as z from 'zod';

/** The media type of every error answer (RFC 9457). */
export const problemMediaType = 'application/problem+json';

/** An error answer. `code` is stable; `detail` is for people and may change. */
export const problem = z.looseObject({
  type: z.string(),
  title: z.string(),
  status: z.int().min(400).max(599),
  code: z.string(),
  detail: z.string(),
  retryable: z.boolean().optional(),
});

export type Problem = z.infer<typeof problem>;
