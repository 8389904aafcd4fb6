import { existsSync, realpathSync } from 'node:fs';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';

/** The directory with the examples of this installation, with its links resolved; undefined where they are not installed. */
export function installedExamples(): string | undefined {
  const directory = ['../examples', '../../../examples']
    .map((path) => fileURLToPath(new URL(path, import.meta.url)))
    .find((path) => existsSync(join(path, 'examples.json')));
  return directory && realpathSync(directory);
}
