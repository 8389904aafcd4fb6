import { SuzumioError } from '@suzumio/contract/errors/suzumio-error';
import type { Attachment } from '@suzumio/protocol/artifacts';
import { maxAttachments } from '@suzumio/protocol/content';
import { findArtifact } from '../content/artifacts.js';
import type { SqlReader } from '../sqlite/sql.js';

/**
 * The artifacts that names stand for, each once, in order.
 *
 * @param names ids of artifacts, or names, which mean the newest artifact of that name
 * @throws SuzumioError `attachment-unknown`, `invalid-request`
 */
export function attachmentsOf(reader: SqlReader, names: readonly string[]): Attachment[] {
  if (names.length > maxAttachments) {
    throw new SuzumioError('invalid-request', `A message carries ${String(maxAttachments)} artifacts at most.`);
  }
  const found = new Map<string, Attachment>();
  for (const name of names) {
    const artifact = findArtifact(reader, { id: name }) ?? findArtifact(reader, { name });
    if (!artifact) {
      throw new SuzumioError(
        'attachment-unknown',
        `Nothing is published as "${name}", so it cannot be attached; give the id or the name of an artifact of this project.`,
        { attachment: name },
      );
    }
    const { id, kind, files, sizeBytes } = artifact;
    found.set(id, { id, name: artifact.name, kind, files, sizeBytes });
  }
  return [...found.values()];
}
