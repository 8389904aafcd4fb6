import { createHash } from 'node:crypto';
import { createReadStream } from 'node:fs';
import { lstat, readdir, readlink } from 'node:fs/promises';
import { join } from 'node:path';
import { SuzumioError } from '@suzumio/contract/errors/suzumio-error';
import { maxWorkspaceBytes, maxWorkspaceFiles, type WorkspaceEntry } from '@suzumio/protocol/workspace-manifest';
import type { ContentStore } from './content-store.js';

/**
 * Stores a directory of the host as a workspace snapshot and returns its id. Links are kept as links.
 *
 * @throws SuzumioError `invalid-config` when it cannot be read or is too large
 */
export async function snapshotDirectory(content: ContentStore, directory: string): Promise<string> {
  const entries: WorkspaceEntry[] = [];
  let totalBytes = 0;
  const walk = async (relative: string): Promise<void> => {
    for (const name of (await readdir(join(directory, relative))).sort()) {
      const path = relative === '' ? name : `${relative}/${name}`;
      const file = join(directory, path);
      const facts = await lstat(file);
      if (facts.isDirectory()) {
        entries.push({ kind: 'directory', path });
        await walk(path);
      } else if (facts.isSymbolicLink()) {
        entries.push({ kind: 'link', path, target: await readlink(file) });
      } else if (facts.isFile()) {
        totalBytes += facts.size;
        assertWithinBounds(directory, entries.length, totalBytes);
        const sha256 = await hashFile(file);
        if (!content.has(sha256)) await content.put(sha256, createReadStream(file));
        const executable = (facts.mode & 0o100) !== 0;
        entries.push({ kind: 'file', path, sha256, sizeBytes: facts.size, executable });
      }
    }
  };
  try {
    await walk('');
  } catch (error) {
    if (error instanceof SuzumioError) throw error;
    throw new SuzumioError(
      'invalid-config',
      `The workspace directory ${directory} cannot be read: ${(error as Error).message}.`,
      { directory },
      { cause: error },
    );
  }
  entries.sort((a, b) => (a.path < b.path ? -1 : 1));
  return content.putBytes(Buffer.from(JSON.stringify({ version: 1, entries })));
}

function assertWithinBounds(directory: string, files: number, totalBytes: number): void {
  if (files < maxWorkspaceFiles && totalBytes <= maxWorkspaceBytes) return;
  throw new SuzumioError(
    'invalid-config',
    `The workspace directory ${directory} is too large: a workspace may have ${String(maxWorkspaceFiles)} files and ${String(maxWorkspaceBytes)} bytes.`,
    { directory },
  );
}

async function hashFile(file: string): Promise<string> {
  const hash = createHash('sha256');
  for await (const chunk of createReadStream(file)) hash.update(chunk as Buffer);
  return hash.digest('hex');
}
