import { createHash } from 'node:crypto';
import { createWriteStream } from 'node:fs';
import { chmod, lchown, lstat, mkdir, rename, rm, symlink } from 'node:fs/promises';
import { dirname, join } from 'node:path';
import { Transform } from 'node:stream';
import { pipeline } from 'node:stream/promises';
import { type WorkspaceEntry, type WorkspaceManifest, workspaceManifest } from '@suzumio/protocol/workspace-manifest';
import { emptyDirectory, removeTree } from '../files/remove-tree.js';
import { isExecutable } from './capture.js';
import type { FileHashes } from './file-hashes.js';
import { type Found, scan, type WorkspaceBounds } from './scan.js';
import { SnapshotInvalid, WorkspaceTooLarge } from './workspace-errors.js';

/** Fetches content, which is verified here. */
export type FetchContent = (sha256: string) => Promise<AsyncIterable<Uint8Array>>;

export interface Owner {
  uid: number;
  gid: number;
}

export interface RestoreOptions {
  hashes: FileHashes;
  bounds: WorkspaceBounds;
  fetch: FetchContent;
  /** A directory on the same file system, outside of every mount. */
  temporary: string;
  /** The owner of the files. @default this process's user */
  owner?: Owner | undefined;
}

/**
 * Parses an untrusted manifest: entries are sorted, paths unique, and every entry is inside a directory of the
 * manifest, so that writing them in order never goes through a link or a file.
 *
 * @throws SnapshotInvalid otherwise
 */
export function parseManifest(bytes: Buffer, bounds: WorkspaceBounds): WorkspaceManifest {
  let manifest: WorkspaceManifest;
  try {
    manifest = workspaceManifest.parse(JSON.parse(bytes.toString('utf8')));
  } catch (error) {
    throw new SnapshotInvalid('The snapshot is not a workspace manifest.', { cause: error });
  }
  const directories = new Set(['.']);
  let sizeBytes = 0;
  let previous = '';
  for (const entry of manifest.entries) {
    if (entry.path <= previous)
      throw new SnapshotInvalid('The entries of the snapshot are not sorted, or one is there twice.');
    if (!directories.has(dirname(entry.path)))
      throw new SnapshotInvalid('The snapshot has an entry outside of its directories.');
    if (entry.kind === 'directory') directories.add(entry.path);
    if (entry.kind === 'file') sizeBytes += entry.sizeBytes;
    previous = entry.path;
  }
  if (sizeBytes > bounds.maxBytes || manifest.entries.length > bounds.maxEntries) {
    throw new SnapshotInvalid('The snapshot is larger than this worker allows.');
  }
  return manifest;
}

/** Makes `root` equal the manifest. No other process may be writing there. */
export async function restore(root: string, manifest: WorkspaceManifest, options: RestoreOptions): Promise<void> {
  const wanted = new Map(manifest.entries.map((entry) => [entry.path, entry]));
  const kept = new Set<string>();
  // Unwanted entries are removed first, the deepest before their directories.
  for (const found of (await scanOrEmpty(root, options.bounds)).reverse()) {
    if (await isAsWanted(found, wanted.get(found.path), options.hashes)) kept.add(found.path);
    else await removeTree(found.absolute);
  }
  for (const entry of manifest.entries) {
    const absolute = join(root, entry.path);
    if (!kept.has(entry.path)) await write(entry, absolute, options);
    if (options.owner) await own(absolute, options.owner);
    if (entry.kind === 'file') options.hashes.note(entry.path, await lstat(absolute, { bigint: true }), entry.sha256);
  }
}

/** A failed attempt's leftovers may exceed all limits: then everything is removed unread. */
async function scanOrEmpty(root: string, bounds: WorkspaceBounds): Promise<Found[]> {
  try {
    const { found, strange } = await scan(root, bounds);
    for (const path of strange) await removeTree(path);
    return found;
  } catch (error) {
    if (!(error instanceof WorkspaceTooLarge)) throw error;
    await emptyDirectory(root);
    return [];
  }
}

async function isAsWanted(found: Found, wanted: WorkspaceEntry | undefined, hashes: FileHashes): Promise<boolean> {
  if (wanted?.kind !== found.kind) return false;
  switch (wanted.kind) {
    case 'directory':
      return true;
    case 'link':
      return found.kind === 'link' && found.target === wanted.target;
    case 'file':
      return (
        Number(found.stat.size) === wanted.sizeBytes &&
        isExecutable(found.stat.mode) === wanted.executable &&
        (await hashes.of(found.path, found.absolute, found.stat)) === wanted.sha256
      );
  }
}

async function write(entry: WorkspaceEntry, absolute: string, options: RestoreOptions): Promise<void> {
  switch (entry.kind) {
    case 'directory':
      await mkdir(absolute);
      return chmod(absolute, 0o755);
    case 'link':
      return symlink(entry.target, absolute);
    case 'file': {
      const temporary = join(options.temporary, `content-${entry.sha256}`);
      try {
        await download(entry, temporary, options.fetch);
        await chmod(temporary, entry.executable ? 0o755 : 0o644);
        await rename(temporary, absolute);
      } finally {
        await rm(temporary, { force: true });
      }
    }
  }
}

async function own(absolute: string, owner: Owner): Promise<void> {
  const stat = await lstat(absolute);
  if (stat.uid !== owner.uid || stat.gid !== owner.gid) await lchown(absolute, owner.uid, owner.gid);
}

async function download(file: WorkspaceEntry & { kind: 'file' }, to: string, fetch: FetchContent): Promise<void> {
  const hash = createHash('sha256');
  let sizeBytes = 0;
  const check = new Transform({
    transform(chunk: Buffer, _encoding, done) {
      sizeBytes += chunk.length;
      hash.update(chunk);
      if (sizeBytes > file.sizeBytes)
        done(new SnapshotInvalid(`The content of ${file.path} is longer than the snapshot says.`));
      else done(null, chunk);
    },
  });
  await pipeline(await fetch(file.sha256), check, createWriteStream(to, { mode: 0o600 }));
  if (sizeBytes !== file.sizeBytes || hash.digest('hex') !== file.sha256) {
    throw new SnapshotInvalid(`The content of ${file.path} is not what the snapshot says.`);
  }
}
