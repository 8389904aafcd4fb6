import { opendir } from 'node:fs/promises';
import { join } from 'node:path';
import { byPath, directoryPath, maxDirectoryEntries } from '@suzumio/protocol/artifacts';

/** Something in a directory, by its path below it. */
export interface ListedEntry {
  readonly kind: 'file' | 'directory';
  readonly path: string;
}

/**
 * Lists a directory in the order of a manifest. Entries that cannot be published are an error rather than left out:
 * links, pipes, sockets, devices, unreadable names.
 */
export async function listDirectory(root: string): Promise<ListedEntry[]> {
  const entries: ListedEntry[] = [];
  const waiting = [''];
  for (let parent = waiting.pop(); parent !== undefined; parent = waiting.pop()) {
    for await (const found of await opendir(join(root, parent))) {
      const path = parent === '' ? found.name : `${parent}/${found.name}`;
      const refuse = (reason: string) => new Error(`${JSON.stringify(path)} ${reason}`);
      if (entries.length === maxDirectoryEntries) throw refuse(`is one more than the ${maxDirectoryEntries} allowed`);
      if (!directoryPath.safeParse(path).success) throw refuse('has a name that cannot be published');
      if (found.isSymbolicLink()) throw refuse('is a link; a published directory holds files and directories only');
      if (!found.isFile() && !found.isDirectory()) throw refuse('is neither a file nor a directory');
      entries.push({ kind: found.isFile() ? 'file' : 'directory', path });
      if (found.isDirectory()) waiting.push(path);
    }
  }
  return entries.sort(byPath);
}
