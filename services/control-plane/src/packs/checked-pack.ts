import { join } from 'node:path';
import { SuzumioError } from '@suzumio/contract/errors/suzumio-error';
import { maxPackBytes } from '@suzumio/protocol/shared-repository';
import type { Cell } from '@suzumio/store/cell/cell';
import { ContentStore } from '@suzumio/store/content/content-store';
import type { CheckedPack } from '@suzumio/store/content/shared-pushes';
import type { PackInspector } from './pack-inspector.js';

/**
 * Inspects a pack that was stored, for a push. It is not collected for a day from now.
 *
 * @param attempt of an agent's turn; undefined where a person pushes
 * @throws SuzumioError `content-missing`; what {@link PackInspector.inspect} throws
 */
export async function checkedPack(
  { cell, packs }: { cell: Cell; packs: PackInspector },
  { project, sha256, attempt }: { project: string; sha256: string; attempt?: string },
): Promise<CheckedPack> {
  const directory = cell.directory.projectDir(project);
  const content = new ContentStore(directory);
  const sizeBytes = await content.renew(sha256);
  if (sizeBytes === undefined || sizeBytes > maxPackBytes) {
    throw new SuzumioError('content-missing', `The pack ${sha256} was not stored before: send it, and push again.`);
  }
  const objects = await packs.inspect(project, join(directory, content.pathOf(sha256)), attempt);
  return { sha256, sizeBytes, objects };
}
