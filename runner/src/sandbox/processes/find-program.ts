import { accessSync, constants } from 'node:fs';
import { delimiter, join } from 'node:path';

/**
 * Where a program is, by the `PATH` of an environment; undefined where it is not. It looks at once: a few system calls take
 * microseconds, and each would wait for a thread on a busy machine.
 */
export function findProgram(name: string, env: Readonly<Record<string, string | undefined>>): string | undefined {
  const directories = (env['PATH'] ?? '/usr/local/bin:/usr/bin:/bin').split(delimiter);
  for (const directory of directories.filter((path) => path.startsWith('/'))) {
    const file = join(directory, name);
    try {
      accessSync(file, constants.X_OK);
      return file;
    } catch {
      continue;
    }
  }
  return undefined;
}
