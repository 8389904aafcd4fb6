import { readdirSync, readFileSync } from 'node:fs';
import { join, posix } from 'node:path';

/** The repository as the site is made from it: paths are relative to its root. */
export interface Repository {
  read: (path: string) => string;
  bytes: (path: string) => Buffer;
  list: (directory: string) => string[];
}

export function repositoryAt(root: string): Repository {
  return {
    read: (path) => readFileSync(join(root, path), 'utf8'),
    bytes: (path) => readFileSync(join(root, path)),
    list: (directory) =>
      readdirSync(join(root, directory), { withFileTypes: true })
        .filter((entry) => entry.isFile())
        .map(({ name }) => posix.join(directory, name))
        .sort(),
  };
}
