import { lstat, readdir } from 'node:fs/promises';
import { dirname, join } from 'node:path';
import { keptPartOf } from '@suzumio/protocol/kept-path';
import { asOneName } from '@suzumio/protocol/one-name';
import { quotedPath } from '@suzumio/protocol/quoted-path';
import { hasCode } from '../sandbox/paths/refusal.js';
import { WorkTreeError } from './work-tree-error.js';

/**
 * A path of a patch that is below the directory and no part of which Git keeps for itself, in any spelling.
 *
 * @throws WorkTreeError
 */
export function requireOwnPath(path: string): void {
  const isBelow = path.split('/').every((part) => part !== '' && part !== '.' && part !== '..') && !path.includes('\0');
  if (!isBelow) throw new WorkTreeError(`${quotedPath(path)} is no path of a file in the repository.`);
  const reserved = keptPartOf(path);
  if (reserved === undefined) return;
  throw new WorkTreeError(`${quotedPath(path)} is in ${quotedPath(reserved)}, into which no patch is written.`);
}

/**
 * Directories above a path are directories of this disk: no links, no repositories of their own.
 *
 * @param options.mayLack whether they need not be there
 * @param options.replaced paths that the same change takes away first
 * @returns whether all of them are there
 * @throws WorkTreeError
 */
export async function requireRealParents(
  top: string,
  path: string,
  { mayLack = false, replaced }: { readonly mayLack?: boolean; readonly replaced?: ReadonlySet<string> } = {},
): Promise<boolean> {
  const device = (await lstat(top)).dev;
  const parts = path.split('/').slice(0, -1);
  for (let count = 1; count <= parts.length; count += 1) {
    const parent = parts.slice(0, count).join('/');
    const found = await lstat(join(top, parent)).catch((error: unknown) => {
      if (hasCode(error, 'ENOENT')) return undefined;
      throw error;
    });
    if (!found && mayLack) return false;
    if (found?.isDirectory() === true) {
      if (found.dev !== device)
        throw new WorkTreeError(
          `${quotedPath(path)} is on another disk than the repository: ${quotedPath(parent)} is mounted there.`,
        );
      if (await isThere(join(top, parent, '.git')))
        throw new WorkTreeError(`${quotedPath(path)} is in ${quotedPath(parent)}, which is a repository of its own.`);
      continue;
    }
    if (replaced?.has(parent) === true) return false;
    const what = found?.isSymbolicLink() === true ? 'a link' : found ? 'a file' : 'gone';
    throw new WorkTreeError(`${quotedPath(parent)} is ${what}, so ${quotedPath(path)} cannot be written below it.`);
  }
  return true;
}

/**
 * New paths that differ from others in case, or in how an accent is written, would be the same file on some disks.
 *
 * @param added paths that nothing is at yet
 * @param removed paths that are taken away first
 * @throws WorkTreeError
 */
export async function requireOneSpelling(
  top: string,
  added: readonly string[],
  removed: ReadonlySet<string>,
): Promise<void> {
  const spellings = new Map<string, string>();
  const listed = new Map<string, Promise<string[]>>();
  const namesIn = (directory: string) => {
    const known = listed.get(directory) ?? readdir(join(top, directory)).catch(() => []);
    listed.set(directory, known);
    return known;
  };
  for (const path of added) {
    const parts = path.split('/');
    for (let count = 1; count <= parts.length; count += 1) {
      const part = parts.slice(0, count).join('/');
      const known = spellings.get(asOneName(part));
      if (known !== undefined && known !== part) throw twins(part, known);
      spellings.set(asOneName(part), part);
      const directory = dirname(part);
      const name = parts[count - 1] ?? '';
      const others = (await namesIn(directory)).filter(
        (other) => other !== name && asOneName(other) === asOneName(name),
      );
      const other = others.map((one) => join(directory, one)).find((one) => !removed.has(one));
      if (other !== undefined) throw twins(part, other);
    }
  }
}

function twins(one: string, other: string): WorkTreeError {
  return new WorkTreeError(
    `${quotedPath(one)} and ${quotedPath(other)} differ only in case or in how an accent is written, and would be one file on some disks.`,
  );
}

async function isThere(path: string): Promise<boolean> {
  return lstat(path).then(
    () => true,
    () => false,
  );
}
