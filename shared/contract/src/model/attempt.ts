import * as z from 'zod';
import { attemptStats, unpublishedArtifacts, unsavedWorkspace } from '@suzumio/protocol/attempts';
import { failure } from '@suzumio/protocol/failure-codes';

const time = z.iso.datetime();

export const attemptView = z.object({
  number: z.int(),
  status: z.enum(['running', 'completed', 'failed', 'cancelled']),
  worker: z.string(),
  credential: z.string().nullable().describe('The name of the token that the worker claimed it with.'),
  engine: z.string(),
  counted: z.boolean().nullable().describe('Whether it counts towards the attempts that a turn may have.'),
  failure: failure.nullable(),
  stats: attemptStats
    .extend({ unsaved: unsavedWorkspace.optional(), unpublished: unpublishedArtifacts.optional() })
    .nullable()
    .describe(
      'What its worker measured and found. `ignoredFiles` is how many files are in directories that are not captured, `leftOut` what no snapshot holds: pipes, sockets, and names that are no text. With `unsaved`, the workspace could not be stored. `unpublished` is what its agent changed in its own directory of artifacts and could not publish.',
    ),
  startedAt: time,
  endedAt: time.nullable(),
});
export type AttemptView = z.infer<typeof attemptView>;
