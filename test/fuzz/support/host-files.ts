import { lstat, mkdir, readdir, utimes, writeFile } from 'node:fs/promises';
import { join } from 'node:path';

/** What is in each file of the host. */
export const marker = 'a secret of the host';

/** As in the workspace, so that a walk that is led there goes on. */
const files = ['secret.txt', 'x', 'y', 'large', 'e/x', 'e/large', 'e/f/x'];
const directories = ['e/f', 'e', '.'];

/** Files of the host, to which what is in a workspace leads; nothing is to read, write or follow them. */
export class HostFiles {
  private constructor(readonly directory: string) {}

  static async make(directory: string): Promise<HostFiles> {
    await mkdir(join(directory, 'e/f'), { recursive: true });
    for (const name of files) await writeFile(join(directory, name), marker);
    // A file that is read notes that, where it was last read before it was last changed.
    for (const name of [...files, ...directories])
      await utimes(join(directory, name), new Date(1_000), new Date(2_000));
    return new HostFiles(directory);
  }

  /** All of them, with the times at which each was last read and changed. */
  async state(): Promise<unknown[]> {
    const found: unknown[] = [];
    for (const name of [...directories, ...files]) {
      const { mode, size, mtimeMs, ctimeMs, atimeMs } = await lstat(join(this.directory, name));
      found.push({ name, mode, size, mtimeMs, ctimeMs, atimeMs });
    }
    return found;
  }

  /** What is in the directory. Looking is noted. */
  async names(): Promise<string[]> {
    return (await readdir(this.directory)).sort();
  }
}

/** The names that {@link HostFiles.names} finds where nothing was added. */
export const namesOfHostFiles = ['e', 'large', 'secret.txt', 'x', 'y'];
