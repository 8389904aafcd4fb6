import { createHash } from 'node:crypto';
import type { WorkspaceEntry, WorkspaceManifest } from '@suzumio/protocol/workspace-manifest';
import { removeTree } from '../files/remove-tree.js';
import type { FileHashes } from './file-hashes.js';
import { type Found, scan, type WorkspaceBounds } from './scan.js';

/** A workspace's content at one moment. */
export interface Captured {
  /** The SHA-256 of `manifestBytes`, or null where the workspace is empty. */
  id: string | null;
  manifest: WorkspaceManifest;
  manifestBytes: Buffer;
  /** How many entries no snapshot can hold; they were removed, so that the directory equals the snapshot. */
  dropped: number;
}

/**
 * Captures `root`; only files that changed since `hashes` were recorded are read.
 *
 * @throws WorkspaceTooLarge beyond `bounds`
 */
export async function capture(root: string, hashes: FileHashes, bounds: WorkspaceBounds): Promise<Captured> {
  const { found, strange } = await scan(root, bounds);
  for (const path of strange) await removeTree(path);
  const entries: WorkspaceEntry[] = [];
  for (const entry of found) entries.push(await describe(entry, hashes));
  const manifest: WorkspaceManifest = { version: 1, entries };
  const manifestBytes = Buffer.from(JSON.stringify(manifest));
  const id = entries.length === 0 ? null : createHash('sha256').update(manifestBytes).digest('hex');
  return { id, manifest, manifestBytes, dropped: strange.length };
}

async function describe(found: Found, hashes: FileHashes): Promise<WorkspaceEntry> {
  const { kind, path } = found;
  switch (kind) {
    case 'directory':
      return { kind, path };
    case 'link':
      return { kind, path, target: found.target };
    case 'file':
      return {
        kind,
        path,
        sha256: await hashes.of(path, found.absolute, found.stat),
        sizeBytes: Number(found.stat.size),
        executable: isExecutable(found.stat.mode),
      };
  }
}

/** The only permission that a snapshot keeps. */
export function isExecutable(mode: bigint): boolean {
  return (mode & 0o100n) !== 0n;
}
