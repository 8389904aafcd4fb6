import type { BigIntStats } from 'node:fs';
import { chmod, lstat, readdir, readlink } from 'node:fs/promises';
import { WorkspaceTooLarge } from './workspace-errors.js';

export interface WorkspaceBounds {
  maxBytes: number;
  /** The largest file that can be stored. */
  maxFileBytes: number;
  maxEntries: number;
}

/** An entry of a workspace. `path` is relative, `absolute` is its path on this host. */
export type Found =
  | { kind: 'directory' | 'file'; path: string; absolute: string; stat: BigIntStats }
  | { kind: 'link'; path: string; absolute: string; stat: BigIntStats; target: string };

export interface Scan {
  /** Sorted by path: a directory comes before what is in it. */
  found: Found[];
  /** Entries that no snapshot holds: pipes, sockets, devices, names that are no text. */
  strange: Buffer[];
}

const maxPathLength = 1024;

/**
 * Everything in a directory, without following links. No other process may be writing there.
 *
 * @throws WorkspaceTooLarge beyond `bounds`
 */
export async function scan(root: string, bounds: WorkspaceBounds): Promise<Scan> {
  const found: Found[] = [];
  const strange: Buffer[] = [];
  let sizeBytes = 0n;
  const directories = [''];
  for (let next = directories.pop(); next !== undefined; next = directories.pop()) {
    const prefix = next === '' ? '' : `${next}/`;
    for (const name of await readdir(`${root}/${next}`, { encoding: 'buffer' })) {
      const path = `${prefix}${name.toString('utf8')}`;
      const absolute = `${root}/${path}`;
      const raw = Buffer.concat([Buffer.from(`${root}/${prefix}`), name]);
      if (!isText(name)) {
        strange.push(raw);
        continue;
      }
      if (path.length > maxPathLength) {
        throw new WorkspaceTooLarge(`The workspace has a path of more than ${maxPathLength} characters.`);
      }
      const stat = await lstat(absolute, { bigint: true });
      if (stat.isDirectory()) {
        if ((stat.mode & 0o700n) !== 0o700n) await chmod(absolute, 0o755);
        found.push({ kind: 'directory', path, absolute, stat });
        directories.push(path);
      } else if (stat.isFile()) {
        if ((stat.mode & 0o400n) === 0n) await chmod(absolute, 0o644);
        sizeBytes += stat.size;
        if (stat.size > BigInt(bounds.maxFileBytes)) {
          throw new WorkspaceTooLarge(
            `The file ${path} has ${stat.size} bytes; a file of a workspace may have ${bounds.maxFileBytes} at most.`,
          );
        }
        found.push({ kind: 'file', path, absolute, stat });
      } else if (stat.isSymbolicLink()) {
        const target = await readlink(absolute, { encoding: 'buffer' });
        if (isText(target)) found.push({ kind: 'link', path, absolute, stat, target: target.toString('utf8') });
        else strange.push(raw);
      } else {
        strange.push(raw);
      }
      if (found.length > bounds.maxEntries) {
        throw new WorkspaceTooLarge(`The workspace has more than ${bounds.maxEntries} files and directories.`);
      }
      if (sizeBytes > BigInt(bounds.maxBytes)) {
        throw new WorkspaceTooLarge(`The workspace has more than ${bounds.maxBytes} bytes.`);
      }
    }
  }
  found.sort((a, b) => (a.path < b.path ? -1 : 1));
  return { found, strange };
}

function isText(name: Buffer): boolean {
  return Buffer.from(name.toString('utf8')).equals(name);
}
