import * as z from 'zod';
import { SuzumioError } from '@suzumio/shared/errors/suzumio-error';
import { findArtifact } from '@suzumio/shared/store/queries/artifacts';
import { defineTool } from './tool.js';

const defaultBytes = 64 * 1024;
const mostBytes = 1024 * 1024;

export const artifactsRead = defineTool({
  name: 'artifacts.read',
  description: 'Read the text of a published file, by its id, or by its name (the newest of that name).',
  input: z
    .strictObject({
      id: z.string().min(1).max(100).optional(),
      name: z.string().min(1).max(200).optional(),
      maxBytes: z.int().min(1).max(mostBytes).default(defaultBytes),
    })
    .refine(({ id, name }) => (id === undefined) !== (name === undefined), 'give an id or a name, not both'),
  async prepare({ id, name, maxBytes }, { reader, content }) {
    const artifact = findArtifact(reader, id === undefined ? { name: name ?? '' } : { id });
    if (!artifact) {
      throw new SuzumioError(
        'artifact-unknown',
        `Nothing is published as "${id ?? name ?? ''}"; artifacts.list shows what is.`,
      );
    }
    const text = decode(
      await content.readStart(artifact.sha256, Math.min(maxBytes, artifact.sizeBytes)),
      artifact.name,
    );
    const truncated = artifact.sizeBytes > maxBytes;
    return () => ({
      output: text,
      metadata: { id: artifact.id, name: artifact.name, sizeBytes: artifact.sizeBytes, truncated },
    });
  },
});

/** Text that may be cut inside a character, but is otherwise UTF-8 without NUL. */
function decode(bytes: Buffer, name: string): string {
  try {
    const text = new TextDecoder('utf-8', { fatal: true }).decode(bytes, { stream: true });
    if (!text.includes('\0')) return text;
  } catch {
    // Not UTF-8: answered below.
  }
  throw new SuzumioError('artifact-not-text', `"${name}" is not a text file, so it cannot be read as one.`);
}
