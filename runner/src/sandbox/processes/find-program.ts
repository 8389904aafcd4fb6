import { constants } from 'node:fs';
import { access } from 'node:fs/promises';
import { delimiter, join } from 'node:path';

/** Where a program is, by the `PATH` of an environment; undefined where it is not. */
export async function findProgram(
  name: string,
  env: Readonly<Record<string, string | undefined>>,
): Promise<string | undefined> {
  const directories = (env['PATH'] ?? '/usr/local/bin:/usr/bin:/bin').split(delimiter);
  for (const directory of directories.filter((path) => path.startsWith('/'))) {
    const file = join(directory, name);
    try {
      await access(file, constants.X_OK);
      return file;
    } catch {
      continue;
    }
  }
  return undefined;
}
