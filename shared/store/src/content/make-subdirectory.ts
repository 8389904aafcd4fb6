import { mkdir } from 'node:fs/promises';
import { basename, join } from 'node:path';
import { unknownProject } from '../sqlite/store-fault.js';

/**
 * Creates a subdirectory of a project's directory where it is missing. The project's own is never created here: that of
 * a deleted project must not come back.
 *
 * @throws SuzumioError `project-unknown`
 */
export async function makeSubdirectory(projectDir: string, path: string): Promise<void> {
  try {
    await mkdir(join(projectDir, path), { mode: 0o700 });
  } catch (error) {
    const { code } = error as NodeJS.ErrnoException;
    if (code === 'ENOENT') throw unknownProject(basename(projectDir));
    if (code !== 'EEXIST') throw error;
  }
}
