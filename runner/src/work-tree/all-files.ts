import { constants } from 'node:fs';
import { access, lstat, readlink } from 'node:fs/promises';
import { join } from 'node:path';
import { maxContentBytes } from '@suzumio/protocol/content';
import { quotedPath } from '@suzumio/protocol/quoted-path';
import { hasCode } from '../sandbox/paths/refusal.js';
import {
  entriesOf,
  type FileOnDisk,
  idOfBytes,
  idOfFile,
  isPlainFile,
  storedForms,
  type TreeEntry,
} from './stored-forms.js';
import type { WorkTree } from './work-tree.js';

/** The index with the commit's files. */
export const baseIndex = 'base-index';

const submodule = '160000';
const readAtATime = 8;

/**
 * The tree of all files of a clone as they are, committed or not, with new ones but those that `.gitignore` names. Which have changed is
 * known by their bytes, against what the checkout of a commit wrote: no index, time, attribute or filter of the clone counts. Submodules are as they
 * are in the commit, and repositories in the clone are left out.
 *
 * @throws Error that names the file which cannot be in a patch
 */
export async function treeOfFiles(tree: WorkTree, commit: string): Promise<string> {
  const { neutral: git } = tree;
  const entries = await entriesOf(git, commit);
  const hash = await tree.hashName();
  const disk = new FilesOnDisk(tree.path);
  const changed: FileOnDisk[] = [];
  const modes = new Map<string, string>();
  const links: [path: string, target: Buffer][] = [];
  const lines: string[] = [];
  const none = '0'.repeat(hash === 'sha256' ? 64 : 40);
  const inSubmodule = insideOf([...entries].filter(([, { mode }]) => mode === submodule).map(([path]) => path));
  const hasModes = await keepsModes(tree);
  const paths = [...new Set([...entries.keys(), ...(await others(tree))])].filter(
    (path) => entries.get(path)?.mode !== submodule && !inSubmodule(path),
  );
  const sizes: [path: string, bytes: number][] = [];
  const compare = async (path: string) => {
    const entry = entries.get(path);
    const found = await disk.find(path);
    if (found === undefined) {
      if (entry) lines.push(`0 ${none}\t${path}\0`);
      return;
    }
    if (found.kind === 'link') {
      if (entry?.mode !== '120000' || entry.id !== idOfBytes(found.target, hash)) links.push([path, found.target]);
      return;
    }
    await access(join(tree.path, path), constants.R_OK).catch(unreadable(path));
    const mode = modeOf(found.isExecutable, entry, hasModes);
    const from = join(tree.path, path);
    const isSame = isPlainFile(entry) && (await idOfFile(from, hash)) === entry.id;
    if (isSame && entry.mode === mode) return;
    if (isSame) lines.push(`${mode} ${entry.id}\t${path}\0`);
    else {
      modes.set(path, mode);
      changed.push({ path, from });
      sizes.push([path, found.bytes]);
    }
  };
  for (let at = 0; at < paths.length; at += readAtATime)
    await Promise.all(paths.slice(at, at + readAtATime).map(compare));
  requireRoom(sizes);
  const base = { tree: commit, entries };
  const ids = await storedForms(git, changed, { base, own: join(tree.scratch, 'forms'), index: baseIndex, hash });
  for (const [path, id] of ids) lines.push(`${modes.get(path) ?? '100644'} ${id}\t${path}\0`);
  for (const [path, target] of links) {
    const id = await git(['hash-object', '-w', '--no-filters', '--stdin'], { input: target });
    lines.push(`120000 ${id.trim()}\t${path}\0`);
  }
  await git(['read-tree', commit]);
  // Removals make room first.
  const isRemoval = (line: string) => line.startsWith('0 ');
  const input = [...lines.filter(isRemoval), ...lines.filter((line) => !isRemoval(line))].join('');
  await git(['update-index', '-z', '--index-info'], { input });
  return (await git(['write-tree', '--missing-ok'])).trim();
}

/** Paths that are in the agent's index, or new and not ignored. */
async function others(tree: WorkTree): Promise<string[]> {
  const [staged, fresh] = await Promise.all([
    tree.inClone(['ls-files', '-z', '--cached', '--stage']),
    tree.inClone(['ls-files', '-z', '--others', '--exclude-standard']),
  ]);
  const known = staged.split('\0').filter((line) => line !== '' && !line.startsWith(submodule));
  return [...known.map((line) => line.slice(line.indexOf('\t') + 1)), ...fresh.split('\0')].filter(
    // A repository in the clone ends with a slash.
    (path) => path !== '' && !path.endsWith('/') && !path.startsWith('.suzumio/'),
  );
}

function insideOf(directories: readonly string[]): (path: string) => boolean {
  return (path) => directories.some((directory) => path.startsWith(`${directory}/`));
}

/** Whether the file system of the clone records which files are executable. */
async function keepsModes(tree: WorkTree): Promise<boolean> {
  return (await tree.inClone(['config', '--type=bool', '--default=true', 'core.fileMode'])).trim() === 'true';
}

function modeOf(isExecutable: boolean, entry: TreeEntry | undefined, hasModes: boolean): string {
  if (!hasModes) return isPlainFile(entry) ? entry.mode : '100644';
  return isExecutable ? '100755' : '100644';
}

type Found =
  | { readonly kind: 'file'; readonly isExecutable: boolean; readonly bytes: number }
  | { readonly kind: 'link'; readonly target: Buffer };

/** Files below a directory, none of which is reached through a link. */
class FilesOnDisk {
  readonly #isDirectory = new Map<string, Promise<boolean>>();

  constructor(private readonly top: string) {}

  async find(path: string): Promise<Found | undefined> {
    if (!(await this.#hasParents(path))) return undefined;
    const full = join(this.top, path);
    const found = await lstat(full).catch((error: unknown) => {
      if (hasCode(error, 'ENOENT', 'ENOTDIR')) return undefined;
      throw error;
    });
    if (found?.isSymbolicLink() === true) return { kind: 'link', target: await readlink(full, { encoding: 'buffer' }) };
    if (found?.isFile() !== true) return undefined;
    return { kind: 'file', isExecutable: (found.mode & 0o100) !== 0, bytes: found.size };
  }

  #hasParents(path: string): Promise<boolean> {
    const end = path.lastIndexOf('/');
    if (end === -1) return Promise.resolve(true);
    const parent = path.slice(0, end);
    const known =
      this.#isDirectory.get(parent) ??
      this.#hasParents(parent).then(
        async (has) => has && (await lstat(join(this.top, parent)).catch(() => undefined))?.isDirectory() === true,
      );
    this.#isDirectory.set(parent, known);
    return known;
  }
}

const unreadable = (path: string) => (error: unknown) => {
  if (!hasCode(error, 'EACCES', 'EPERM')) throw error;
  throw new Error(`${quotedPath(path)} cannot be read: let its owner read it (chmod u+r)`, { cause: error });
};

/** Requires that a patch may hold what has changed. */
function requireRoom(sizes: readonly [path: string, bytes: number][]): void {
  const bytes = sizes.reduce((sum, [, size]) => sum + size, 0);
  if (bytes <= maxContentBytes) return;
  const [[path, largest] = ['', 0]] = sizes.toSorted(([, one], [, other]) => other - one);
  throw new Error(
    `the files that have changed come to ${bytes} bytes, and a patch may have ${maxContentBytes}; ${quotedPath(path)} has ${largest} of them: name in .gitignore what is not to be in it`,
  );
}
