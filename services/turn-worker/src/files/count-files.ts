import { errnoOf } from './errno.js';
import type { OpenDirectory } from './open-directory.js';

/**
 * How many files and links are below a directory, from descriptor to descriptor. What cannot be looked into is left out, as is what
 * is deeper than `maxDepth`: each level is an open descriptor.
 *
 * @param check called between directories; throws to cancel
 * @returns `atMost` where there are more
 */
export function countFiles(
  parent: OpenDirectory,
  name: string,
  { atMost, maxDepth, check }: { atMost: number; maxDepth: number; check: () => void },
): number {
  check();
  let directory: OpenDirectory;
  try {
    directory = parent.open(name);
  } catch (error) {
    if (errnoOf(error) === undefined) throw error;
    return 0;
  }
  try {
    const { files, directories } = directory.kinds(atMost);
    let count = Math.min(files, atMost);
    for (const inner of maxDepth > 0 ? directories : []) {
      if (count >= atMost) break;
      count += countFiles(directory, inner, { atMost: atMost - count, maxDepth: maxDepth - 1, check });
    }
    return count;
  } catch (error) {
    if (errnoOf(error) === undefined) throw error;
    return 0;
  } finally {
    directory.close();
  }
}
