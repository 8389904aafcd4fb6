import * as z from 'zod';
import { artifactKind } from '@suzumio/protocol/artifacts';
import { redaction } from './redaction.js';
import { seq } from './seq.js';

const time = z.iso.datetime();

export const artifactView = z.object({
  id: z.string(),
  seq,
  creator: z.string().describe('An agent, or `user`.'),
  turn: z.string().nullable(),
  name: z.string(),
  kind: artifactKind,
  files: z.int().describe('How many files it has; 1 where it is one.'),
  path: z
    .string()
    .describe("The stored file, or the list of what is in a directory, relative to the project's directory."),
  workspacePath: z.string().nullable().describe('Where it was in the workspace that it was published from.'),
  sha256: z.string(),
  sizeBytes: z.int(),
  description: z.string().nullable(),
  base: z.string().nullable().describe('The commit that a patch is against; null for anything else.'),
  createdAt: time,
  redacted: redaction.nullable().describe('Set where its content was removed.'),
  versions: z
    .exactOptional(z.int())
    .describe('In a list with `latest=true`: how many artifacts have its name, or how many of them are by `creator`.'),
});
export type ArtifactView = z.infer<typeof artifactView>;
