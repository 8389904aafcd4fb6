import { constants } from 'node:fs';
import { type FileHandle, open } from 'node:fs/promises';
import { errnoOf } from './errno.js';

/** Something other than a regular file was found. */
export class NotARegularFile extends Error {
  override readonly name = 'NotARegularFile';
}

/**
 * Opens what a container wrote: never through a link, never waiting on a FIFO, and only if it is a regular file.
 *
 * @throws NotARegularFile when it is something else
 */
export async function openRegularFile(path: string): Promise<FileHandle> {
  const flags = constants.O_RDONLY | constants.O_NOFOLLOW | constants.O_NONBLOCK;
  const file = await open(path, flags).catch((error: unknown) => {
    if (errnoOf(error) === 'ELOOP') throw new NotARegularFile('is a symbolic link');
    if (errnoOf(error) === 'ENXIO') throw new NotARegularFile('is a socket or a pipe');
    throw error;
  });
  try {
    const stat = await file.stat();
    if (stat.isFile()) return file;
    throw new NotARegularFile(stat.isDirectory() ? 'is a directory' : 'is not a regular file');
  } catch (error) {
    await file.close();
    throw error;
  }
}
