import { randomBytes } from 'node:crypto';
import { chmod, lstat, readdir, rename, rmdir, unlink } from 'node:fs/promises';
import { errnoOf } from './errno.js';

/**
 * Removes anything that a container left, also names that are no text, directories without permissions, and trees too
 * deep for the system's paths. Links are removed, never followed. No other process may be writing there.
 */
export async function removeTree(path: string | Buffer): Promise<void> {
  const stat = await lstat(path).catch(missingIsUndefined);
  if (stat === undefined) return;
  if (!stat.isDirectory()) return unlink(path);
  await emptyDirectory(path);
  await rmdir(path);
}

/** Removes everything in a directory, and keeps the directory. */
export async function emptyDirectory(directory: string | Buffer): Promise<void> {
  const top = Buffer.from(directory);
  const prefix = `.removing-${randomBytes(8).toString('hex')}-`;
  const moved: Buffer[] = [];
  await chmod(top, 0o700);
  for (let next: Buffer | undefined = top, i = 0; next !== undefined; next = moved[i++]) {
    for (const entry of await readdir(next, { withFileTypes: true, encoding: 'buffer' })) {
      const path = within(next, entry.name);
      if (!entry.isDirectory()) {
        await unlink(path);
        continue;
      }
      // Directories are moved to the top before they are read, so that paths stay short.
      const target = within(top, Buffer.from(`${prefix}${moved.length}`));
      await chmod(path, 0o700);
      await rename(path, target);
      moved.push(target);
    }
  }
  for (const emptied of moved) await rmdir(emptied);
}

const within = (directory: Buffer, name: Buffer): Buffer => Buffer.concat([directory, Buffer.from('/'), name]);

function missingIsUndefined(error: unknown): undefined {
  if (errnoOf(error) !== 'ENOENT') throw error;
}
