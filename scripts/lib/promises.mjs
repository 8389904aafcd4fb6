import { readFileSync } from 'node:fs';

/** The table that says which suite fails where a promise is broken. */
export const promisesFile = 'test/promises.md';

/** Its rows. A promise's name is that of its flaw, too: `test/faults/NAME.patch`. */
export function readPromises() {
  const rows = readFileSync(promisesFile, 'utf8').matchAll(/^\| `([\w-]+)` +\| (.+?) +\| (.+?) +\| `(\S+)` +\|$/gm);
  return Array.from(rows, ([, name, promise, from, suite]) => ({ name, promise, from, suite }));
}
