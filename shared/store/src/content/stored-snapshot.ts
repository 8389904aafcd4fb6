import { maxWorkspaceManifestBytes } from '@suzumio/protocol/workspace-manifest';
import { SnapshotInvalid } from '@suzumio/protocol/workspace-snapshot';
import type { ContentStore } from './content-store.js';

/** The manifests of a job are too long to be parsed in this thread. */
export class TooLong extends Error {}

/**
 * The bytes of a workspace's manifest as it is stored. It may come from anybody.
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
