import { constants } from 'node:fs';
import { type FileHandle, open } from 'node:fs/promises';
import { openRegularFile } from './regular-file.js';

/**
 * Opens a regular file below `root` for reading while a stranger may be moving things about there: each directory on
 * the way is opened as an entry of the one before, and a link is never followed, whenever it was put there. `path` is
 * relative, without `.` and `..`. Only where the system has `/proc`.
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
