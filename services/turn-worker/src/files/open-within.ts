import { constants } from 'node:fs';
import { type FileHandle, open } from 'node:fs/promises';
import { openRegularFile } from './regular-file.js';

/**
 * Opens a regular file below `root` for reading while untrusted processes may move files there: each directory on the
 * way is opened relative to its parent, and links are never followed. `path` is relative, without `.` and `..`. Needs
 * `/proc`.
 *
 * @throws NotARegularFile, or a system error
 */
export async function openFileWithin(root: string, path: string): Promise<FileHandle> {
  const flags = constants.O_RDONLY | constants.O_DIRECTORY | constants.O_NOFOLLOW;
  const parts = path.split('/');
  const name = parts.pop() ?? '';
  let directory = await open(root, flags);
  const entry = (part: string) => `/proc/self/fd/${directory.fd}/${part}`;
  try {
    for (const part of parts) {
      const next = await open(entry(part), flags);
      await directory.close();
      directory = next;
    }
    return await openRegularFile(entry(name));
  } finally {
    await directory.close();
  }
}
