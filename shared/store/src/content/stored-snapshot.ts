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
  return readSnapshot(id, (sha256) => storedManifest(content, sha256));
}

/**
 * The bytes of a manifest as it is stored.
 *
 * @param check is told its size before it is read
 * @throws SnapshotInvalid where it is missing or too long; what `check` throws
 */
export async function storedManifest(
  content: ContentStore,
  sha256: string,
  check: (sizeBytes: number) => void = () => undefined,
): Promise<Uint8Array> {
  const sizeBytes = await content.sizeOf(sha256);
  if (sizeBytes === undefined) throw new SnapshotInvalid(`The manifest ${sha256} of a snapshot is missing.`);
  if (sizeBytes > maxWorkspaceManifestBytes) throw new SnapshotInvalid(`The manifest ${sha256} is too long.`);
  check(sizeBytes);
  return content.readStart(sha256, sizeBytes);
}
