import { randomBytes } from 'node:crypto';
import { chmod, lstat, opendir, rename, rmdir, unlink } from 'node:fs/promises';
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

/** Removes everything in a directory, and keeps the directory. However much is in it, little of it is in memory at a time. */
export async function emptyDirectory(directory: string | Buffer): Promise<void> {
  const top = Buffer.from(directory);
  const prefix = `.removing-${randomBytes(8).toString('hex')}-`;
  const moved = (number: number) => within(top, Buffer.from(`${prefix}${number}`));
  let count = 0;
  await chmod(top, 0o700);
  // Directories are moved to the top before they are read, so that paths stay short.
  for (let at = -1; at < count; at += 1) {
    const next = at < 0 ? top : moved(at);
    // As much as there was: where somebody still writes, there would be no end. What is removed meanwhile may hide an entry from the
    // reader, so it may take another reading.
    for (let left = await countOf(next), before = left + 1; left > 0 && left < before;) {
      before = left;
      for await (const { name, isDirectory } of entriesOf(next)) {
        if (at < 0 && name.toString().startsWith(prefix)) continue;
        if (left === 0) break;
        left -= 1;
        const path = within(next, name);
        if (!isDirectory) {
          await unlink(path);
          continue;
        }
        await chmod(path, 0o700);
        await rename(path, moved(count));
        count += 1;
      }
    }
  }
  for (let at = 0; at < count; at += 1) await rmdir(moved(at));
}

/** What is in a directory, piece by piece: of a directory of any length, no list is made. */
async function* entriesOf(directory: Buffer, bufferSize = 256): AsyncGenerator<{ name: Buffer; isDirectory: boolean }> {
  // The types lack names that need not be text.
  const encoding = 'buffer' as BufferEncoding;
  for await (const entry of await opendir(directory, { encoding, bufferSize })) {
    yield { name: entry.name as unknown as Buffer, isDirectory: entry.isDirectory() };
  }
}

async function countOf(directory: Buffer): Promise<number> {
  // In large pieces: faster than somebody makes more.
  const entries = entriesOf(directory, 4_096);
  let count = 0;
  while ((await entries.next()).done !== true) count += 1;
  return count;
}

const within = (directory: Buffer, name: Buffer): Buffer => Buffer.concat([directory, Buffer.from('/'), name]);

function missingIsUndefined(error: unknown): undefined {
  if (errnoOf(error) !== 'ENOENT') throw error;
}
