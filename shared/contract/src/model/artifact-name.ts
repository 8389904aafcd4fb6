import * as z from 'zod';

export const artifactName = z
  .string()
  .min(1)
  .max(200)
  .regex(/^[^\p{Cc}\p{Cf}\\/]+$/u, 'a file name without slashes or control characters')
  .refine((name) => name !== '.' && name !== '..', 'a file name')
  // The store would write the same sign for each half of a pair that stands alone.
  .refine((name) => name.isWellFormed(), 'a file name of whole characters')
  .describe('What an artifact is called: the name of a file, and nothing that could be a path or deceive a reader.');

export const maxArtifactDescription = 2000;
