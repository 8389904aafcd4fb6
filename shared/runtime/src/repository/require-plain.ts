import { constants, type Dirent } from 'node:fs';
import { lstat, open, opendir, readlink } from 'node:fs/promises';
import { dirname, join, resolve } from 'node:path';
import { RepositoryProblem, shellPath } from './repository-problem.js';

/** The most files of a repository that are read: more are packed first. */
const usualMaxEntries = 200_000;

/** What Git reads of a repository that it fetches from, beside {@link trees}. */
const files = ['HEAD', 'config', 'packed-refs', 'shallow', 'info'];
const trees = ['objects', 'refs', 'reftable'];

/** Files that say where a repository has its objects from are read up to here. */
const maxReadBytes = 4_096;

/**
 * Requires of a repository on this host that it is all there: with a link, or by borrowing, it would lead to what the
 * policy does not name.
 *
 * @param path where it is reached
 * @param name its path, for sentences
 * @returns its directory of Git
 * @throws RepositoryProblem `repository-refused`, `repository-unsupported`
 */
export async function requirePlain(path: string, name: string, maxEntries = usualMaxEntries): Promise<string> {
  const inside = join(path, '.git');
  const found = await factsOf(inside);
  const unsupported = (what: string) => new RepositoryProblem('repository-unsupported', `${name} ${what}`);
  if (found?.isSymbolicLink() === true)
    throw unsupported(
      `leads elsewhere with a link (.git): name ${quoted(dirname(resolve(name, await readlink(inside))))}.`,
    );
  if (found && !found.isDirectory()) throw unsupported(await elsewhere(inside, name));
  const gitDir = found ? inside : path;
  const shownDir = found ? join(name, '.git') : name;
  if ((await factsOf(join(gitDir, 'objects'))) === undefined) {
    throw new RepositoryProblem(
      'repository-refused',
      `There is no repository at ${name} on the worker's host${await above(name)}.`,
      { isAbsent: true },
    );
  }
  const commondir = await readText(join(gitDir, 'commondir'));
  if (commondir !== undefined)
    throw unsupported(
      `is a work tree of another repository (commondir): name ${quoted(mainOf(resolve(shownDir, commondir)))}.`,
    );
  const whole = `git -C ${shellPath(name)} repack -a -d && rm ${shellPath(join(shownDir, 'objects/info/alternates'))}`;
  for (const file of ['objects/info/alternates', 'objects/info/http-alternates']) {
    if (!(await hasLines(join(gitDir, file)))) continue;
    throw unsupported(`borrows objects of another repository (${file}): make it whole, with ${whole}.`);
  }
  if (await hasLines(join(gitDir, 'info/grafts')))
    throw unsupported(
      `shows another history than it has (info/grafts): take that away, with git -C ${shellPath(name)} replace --convert-graft-file.`,
    );
  for (const one of [...files, ...trees]) {
    if ((await factsOf(join(gitDir, one)))?.isSymbolicLink() === true) {
      throw unsupported(`leads elsewhere with a link (${one}).`);
    }
  }
  let seen = 0;
  for (const tree of trees) {
    for await (const entry of below(join(gitDir, tree))) {
      seen += 1;
      if (seen > maxEntries) {
        const git = `git -C ${shellPath(name)}`;
        throw unsupported(
          `has more than ${maxEntries} files: pack it, with ${git} repack -a -d -k && ${git} pack-refs --all.`,
        );
      }
      if (entry.isSymbolicLink()) {
        const linked = join(entry.parentPath, entry.name).slice(gitDir.length + 1);
        throw unsupported(`leads elsewhere with a link (${linked}).`);
      }
    }
  }
  return gitDir;
}

/** Where the repository is of a directory that has a file `.git`. */
async function elsewhere(file: string, name: string): Promise<string> {
  const text = await readText(file);
  const to = /^gitdir: (.+)$/s.exec(text ?? '')?.[1];
  if (to === undefined) return 'has a file .git that names no repository: remove it, or name another directory.';
  const gitDir = resolve(name, to);
  const commondir = await readText(join(gitDir, 'commondir'));
  if (commondir === undefined)
    return `is no repository itself, what it has is in ${quoted(gitDir)} (.git): name ${quoted(gitDir)}.`;
  const head = /^ref: refs\/heads\/(.+)$/.exec((await readText(join(gitDir, 'HEAD'))) ?? '')?.[1];
  const main = quoted(mainOf(resolve(gitDir, commondir)));
  return `is a work tree of another repository (.git): name ${main}${head === undefined ? '' : `, with ref: ${head}`}.`;
}

/** The directory that has a directory of Git, or that itself. */
const mainOf = (gitDir: string) => (gitDir.endsWith('/.git') ? dirname(gitDir) : gitDir);

/** The repository that a directory is in, if it is in one. */
async function above(path: string): Promise<string> {
  for (let parent = dirname(path); ; parent = dirname(parent)) {
    if (await factsOf(join(parent, '.git'))) return ` (it is part of one: name ${quoted(parent)})`;
    if (parent === dirname(parent)) return '';
  }
}

/** A path as it is written into a project file. */
const quoted = (path: string) => (/^[\w@%+=:,./ -]+$/.test(path) ? path : JSON.stringify(path));

async function readText(path: string): Promise<string | undefined> {
  const file = await open(path, constants.O_RDONLY | constants.O_NONBLOCK).catch(() => undefined);
  if (!file) return undefined;
  try {
    const { buffer, bytesRead } = await file.read(Buffer.alloc(maxReadBytes), 0, maxReadBytes, 0);
    return buffer.toString('utf8', 0, bytesRead).replace(/\r?\n$/, '');
  } catch {
    return undefined;
  } finally {
    await file.close();
  }
}

/** Whether a file says more than comments. */
async function hasLines(path: string): Promise<boolean> {
  const facts = await factsOf(path);
  if (!facts) return false;
  // What it says is read by Git wherever a link leads.
  if (!facts.isFile() || facts.size > maxReadBytes) return true;
  return ((await readText(path)) ?? '').split('\n').some((line) => line.trim() !== '' && !line.startsWith('#'));
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
