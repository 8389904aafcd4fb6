import {
  maxWorkspaceManifestBytes,
  readSnapshot,
  type SnapshotDirectory,
  SnapshotInvalid,
} from '@suzumio/protocol/workspace-snapshot';
import type { ContentStore } from './content-store.js';

/**
 * A workspace's snapshot as it is stored. It may come from anybody.
 *
 * @throws SnapshotInvalid where it is larger than a workspace may be, or a manifest of it is missing or is none
 */
export function storedSnapshot(content: ContentStore, id: string): Promise<SnapshotDirectory> {
  return readSnapshot(id, async (sha256) => {
    const sizeBytes = await content.sizeOf(sha256);
    if (sizeBytes === undefined) throw new SnapshotInvalid(`The manifest ${sha256} of the snapshot ${id} is missing.`);
    if (sizeBytes > maxWorkspaceManifestBytes) throw new SnapshotInvalid(`The manifest ${sha256} is too long.`);
    return content.readStart(sha256, sizeBytes);
  });
}
