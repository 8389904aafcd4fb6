import type { Dirent } from 'node:fs';
import { lstat, opendir } from 'node:fs/promises';
import { join } from 'node:path';
import { AttemptFailure } from '../engine/attempt-failure.js';

/** The most files of a repository that are looked at: more are packed first. */
const maxEntries = 200_000;

/** What Git reads of a repository that it fetches from, beside {@link trees}. */
const files = ['HEAD', 'config', 'packed-refs', 'shallow', 'info'];
const trees = ['objects', 'refs', 'reftable'];

/** Files with which a repository leads to another one. */
const borrowing: readonly (readonly [file: string, says: string])[] = [
  ['commondir', 'is a work tree of another repository (commondir): name that one.'],
  [
    'objects/info/alternates',
    'borrows objects of another repository (objects/info/alternates): make it whole, with git repack -a.',
  ],
  [
    'objects/info/http-alternates',
    'borrows objects of another repository (objects/info/http-alternates): make it whole, with git repack -a.',
  ],
];

/**
 * Requires of a repository on this host that it is all there: with a link, or by borrowing, it would lead to what the
 * policy does not name.
 *
 * @param path where it is reached
 * @param name what it is called
 * @throws AttemptFailure `repository-refused`, `repository-unsupported`
 */
export async function requirePlain(path: string, name: string): Promise<void> {
  const inside = join(path, '.git');
  const found = await factsOf(inside);
  const unsupported = (what: string) => new AttemptFailure('repository-unsupported', `${name} ${what}`);
  if (found && !found.isDirectory()) {
    throw unsupported(
      found.isSymbolicLink()
        ? 'leads elsewhere with a link (.git).'
        : 'is a work tree of another repository: name that one.',
    );
  }
  const gitDir = found ? inside : path;
  if ((await factsOf(join(gitDir, 'objects'))) === undefined) {
    throw new AttemptFailure('repository-refused', `There is no repository at ${name} on the worker's host.`);
  }
  for (const [file, says] of borrowing) if (await factsOf(join(gitDir, file))) throw unsupported(says);
  for (const one of [...files, ...trees]) {
    if ((await factsOf(join(gitDir, one)))?.isSymbolicLink() === true) {
      throw unsupported(`leads elsewhere with a link (${one}).`);
    }
  }
  let seen = 0;
  for (const tree of trees) {
    for await (const entry of below(join(gitDir, tree))) {
      seen += 1;
      if (seen > maxEntries) throw unsupported(`has more than ${maxEntries} files: pack it, with git gc.`);
      if (entry.isSymbolicLink()) {
        const place = join(entry.parentPath, entry.name).slice(gitDir.length + 1);
        throw unsupported(`leads elsewhere with a link (${place}).`);
      }
    }
  }
}

/** Everything below a directory, without following links; nothing where there is none. */
async function* below(directory: string): AsyncGenerator<Dirent> {
  const facts = await factsOf(directory);
  if (facts?.isDirectory() !== true) return;
  for await (const entry of await opendir(directory)) {
    yield entry;
    if (entry.isDirectory()) yield* below(join(directory, entry.name));
  }
}

async function factsOf(path: string): Promise<Awaited<ReturnType<typeof lstat>> | undefined> {
  return lstat(path).catch(() => undefined);
}
