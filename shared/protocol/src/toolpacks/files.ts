import * as z from 'zod';
import { toolpackPath } from './manifest.js';

/** The most files of a toolpack, and the most bytes of all together. */
export const maxToolpackFiles = 200;
export const maxToolpackBytes = 2 * 1024 ** 2;

/** The longest form of a toolpack as content. */
export const maxToolpackContentBytes = 2 * maxToolpackBytes;

/** A toolpack's files as content: what its project has of it, whatever becomes of its directory. */
export const toolpackFiles = z.strictObject({
  version: z.literal(1),
  files: z
    .array(z.strictObject({ path: toolpackPath, base64: z.string() }))
    .max(maxToolpackFiles)
    .refine((files) => files.every(({ path }) => !files.some((other) => other.path.startsWith(`${path}/`))), {
      error: 'a file is a directory of another one',
    }),
});

/** A toolpack's files, by their paths. */
export type ToolpackFiles = ReadonlyMap<string, Uint8Array>;

/** The one form of a toolpack's files as content. */
export function toolpackContent(files: ToolpackFiles): Uint8Array<ArrayBuffer> {
  const inOrder = [...files].sort(([one], [other]) => (one < other ? -1 : 1));
  const listed = inOrder.map(([path, bytes]) => ({ path, base64: Buffer.from(bytes).toString('base64') }));
  return new TextEncoder().encode(JSON.stringify({ version: 1, files: listed }));
}

/** @throws Error where the content is none of a toolpack */
export function filesOfToolpack(content: Uint8Array): ToolpackFiles {
  const { files } = toolpackFiles.parse(JSON.parse(new TextDecoder().decode(content)));
  return new Map(files.map(({ path, base64 }) => [path, Buffer.from(base64, 'base64')]));
}
