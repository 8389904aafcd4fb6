import { randomBytes } from 'node:crypto';
import { copyFile, lstat, mkdir, open, readdir, rm, rmdir } from 'node:fs/promises';
import { dirname, join, resolve } from 'node:path';
import { quotedPath } from '@suzumio/protocol/quoted-path';
import {
  absent,
  type DiskFile,
  isSameFile,
  NoPlainFile,
  readDiskFile,
  syncToDisk,
  takePermissions,
} from './disk-file.js';
import { hasCode } from '../sandbox/paths/refusal.js';
import { holdDirectory } from './hold-directory.js';
import { keepLineEnds } from './keep-line-ends.js';
import { formsOfPerson } from './forms-of-person.js';
import { requireOneSpelling, requireOwnPath, requireRealParents } from './own-path.js';
import {
  FileReplacement,
  type OnStep,
  type Recovered,
  recoverReplacements,
  type Replacement,
  stagedIn,
} from './replace-files.js';
import { type BaseTree, entriesOf, type FileOnDisk, idOfFile, isPlainFile, storedForms } from './stored-forms.js';
import { type Merged, threeWay } from './three-way.js';
import { cloneAt, type GitDir, inScratch, type TreeOptions, WorkTree } from './work-tree.js';
import { WorkTreeError } from './work-tree-error.js';

/** How files are changed. */
interface ChangeOptions extends TreeOptions {
  /** How long old files stay, in milliseconds. */
  readonly retentionMs: number;
  /** Called before each change of the disk. */
  readonly onStep?: OnStep | undefined;
}

/** Paths that one command line of Git names at most. */
const maxNamedPaths = 500;
const syncedAtATime = 16;
/** How often a merge may need more paths to be read: each time it follows renames of files. */
const maxMerges = 10;
const submodule = '160000';

/** What was read at a path. */
interface ReadPath {
  readonly found: DiskFile;
  /** The file is in the index, marked as not on the disk: it is outside of a sparse checkout. */
  readonly isSparse: boolean;
}

/** Files that were moved from one tree to another. */
export interface Move {
  /** The paths that have changed, as the disk shows them. */
  readonly paths: readonly string[];
  /** The directory with old files; null where none stays. */
  readonly replaced: string | null;
  /** Puts back what was there. */
  undo: () => Promise<void>;
  /** Ends it: a later run does not undo it. */
  end: () => Promise<void>;
  /** Removes temporary files. Nothing can be undone then. */
  clean: () => Promise<void>;
}

const noMove: Move = {
  paths: [],
  replaced: null,
  undo: () => Promise.resolve(),
  end: () => Promise.resolve(),
  clean: () => Promise.resolve(),
};

/**
 * Files of a directory that are changed: only at paths that were read, and only where they still have what was read. Nothing else
 * in the directory is read.
 */
export class ChangingTree extends WorkTree {
  readonly #read = new Map<string, ReadPath>();
  #hasIndex = false;
  #base: BaseTree | undefined;

  private constructor(
    path: string,
    scratch: string,
    repository: GitDir | undefined,
    /** The directory of all replacements. */
    private readonly area: string,
    private readonly change: ChangeOptions,
    /** What an earlier change that broke had left. */
    readonly recovered: Recovered,
  ) {
    super(path, scratch, repository, change);
  }

  /**
   * @param use gets the files of `path`, which no other process changes this way meanwhile
   * @throws WorkTreeError
   */
  static async change<Result>(
    path: string,
    options: ChangeOptions,
    use: (tree: ChangingTree) => Promise<Result>,
  ): Promise<Result> {
    const repository = options.repository ?? (await cloneAt(path));
    const own = await ownDirectory(path, repository);
    const area = join(own, 'replaced');
    try {
      return await holdDirectory(area, async () => {
        const recovered = await recoverReplacements(area, options.retentionMs);
        for (const name of await readdir(own))
          if (name.startsWith('work-')) await rm(join(own, name), { recursive: true, force: true });
        return inScratch(join(own, 'work-'), async (scratch) => {
          const tree = new ChangingTree(path, scratch, repository, area, options, recovered);
          await tree.prepare();
          return use(tree);
        });
      });
    } catch (error) {
      throw namedFailure(error);
    } finally {
      for (const directory of [area, own]) await rmdir(directory).catch(() => undefined);
    }
  }

  /**
   * Reads files as they are on the disk.
   *
   * @returns the tree of HEAD, with these files and those read before
   * @throws WorkTreeError where a path cannot be one of a file
   */
  async read(paths: Iterable<string>): Promise<string> {
    if (!this.#hasIndex) {
      const head = this.isClone
        ? await this.inClone(['rev-parse', '--verify', '--quiet', 'HEAD^{tree}'], { codes: [0, 1] })
        : '';
      if (head !== '') {
        await this.git(['read-tree', head.trim()]);
        this.#base = { tree: head.trim(), entries: await entriesOf(this.git, head.trim()) };
      }
      await mkdir(this.#mirror);
      this.#hasIndex = true;
    }
    const fresh = [...new Set(paths)].filter((path) => !this.#read.has(path));
    const all = new Set([...this.#read.keys(), ...fresh]);
    for (const path of fresh) requireOwnPath(path);
    const found = new Map<string, DiskFile>();
    for (const path of fresh) found.set(path, await this.#found(path, all));
    const sparse = await this.#sparse(fresh.filter((path) => found.get(path)?.kind === 'absent'));
    const ignored = await this.#ignored(fresh.filter((path) => ['file', 'link'].includes(found.get(path)?.kind ?? '')));
    for (const path of fresh) this.#read.set(path, { found: found.get(path) ?? absent, isSparse: sparse.has(path) });
    await this.#copyAttributes(fresh);
    const known = fresh.filter(
      (path) => found.get(path)?.kind !== 'directory' && !sparse.has(path) && !ignored.has(path),
    );
    const input = known.map((path) => `${path}\0`).join('');
    await this.git(['update-index', '-z', '--add', '--remove', '--replace', '--stdin'], { input, files: this.#mirror });
    if (this.#base) await this.#storeAsCommitted(this.#base, known);
    return this.written();
  }

  /**
   * Merges what differs between two trees with the files as they are.
   *
   * @returns the files as they are, and merged
   */
  async merged(
    { base, theirs }: { readonly base: string; readonly theirs: string },
    called: { ours: string; theirs: string },
  ): Promise<Merged & { readonly files: string }> {
    let files = await this.read(await this.differing(base, theirs));
    for (let count = 0; count < maxMerges; count += 1) {
      const merged = await threeWay(this.git, { base, ours: files, theirs }, called);
      const read = await this.read(await this.differing(files, merged.tree));
      if (read === files) return { ...merged, files };
      // Git has followed the rename of a file, whose text was not read yet.
      files = read;
    }
    throw new WorkTreeError('files were renamed in too many ways to be merged.');
  }

  /**
   * Brings files from one tree to another, all of them or none.
   *
   * @param from the tree that they are, as `read` says
   * @throws WorkTreeError where a file is in the way, or was written to since it was read
   */
  async move(from: string, to: string): Promise<Move> {
    const changes = await this.#changes(from, to);
    if (changes.length === 0) return noMove;
    const id = `${new Date().toISOString().replace(/[-:]|\.\d+/g, '')}-${randomBytes(4).toString('hex')}`;
    const directory = join(this.area, id);
    const { onStep, retentionMs } = this.change;
    try {
      await mkdir(stagedIn(directory), { recursive: true });
      const files = await this.#stage(directory, to, changes);
      const replacement = await FileReplacement.carryOut(directory, { top: this.path, files, onStep });
      return {
        paths: await replacement.changed(),
        replaced: retentionMs > 0 && replacement.hasOldFiles ? directory : null,
        undo: async () => {
          const left = await replacement.undo();
          if (left.length > 0) throw new WorkTreeError('what followed failed.', left);
        },
        end: () => replacement.end(),
        clean: () => rm(retentionMs === 0 ? directory : stagedIn(directory), { recursive: true, force: true }),
      };
    } catch (error) {
      // Once files were moved, a program may write to one of them later.
      const isBegun = error instanceof WorkTreeError && error.isBegun;
      const hasText = isBegun && (retentionMs > 0 || error.left.length > 0);
      if (!hasText) await rm(directory, { recursive: true, force: true });
      throw error;
    }
  }

  /** Has files whose bytes are as they were checked out be as they are in the commit, and of others the lines that were not changed. */
  async #storeAsCommitted(base: BaseTree, paths: readonly string[]): Promise<void> {
    const hash = await this.hashName();
    const changed: FileOnDisk[] = [];
    const ids = new Map<string, string>();
    for (const path of paths) {
      const entry = base.entries.get(path);
      if (!isPlainFile(entry) || this.#read.get(path)?.found.kind !== 'file') continue;
      const from = join(this.#mirror, path);
      if ((await idOfFile(from, hash)) === entry.id) ids.set(path, entry.id);
      else changed.push({ path, from });
    }
    const forms = this.#isOfPerson
      ? await formsOfPerson(this.git, changed, { base, hash, mirror: this.#mirror, scratch: this.scratch })
      : await storedForms(this.neutral, changed, {
          base,
          own: join(this.scratch, 'forms'),
          index: 'base-index',
          hash,
        });
    const settled = [...ids, ...forms];
    if (settled.length === 0) return;
    const staged = await this.#modes(settled.map(([path]) => path));
    const input = settled.map(([path, id]) => `${staged.get(path) ?? '100644'} ${id}\t${path}\0`).join('');
    await this.git(['update-index', '-z', '--index-info'], { input });
  }

  /** The modes that files have in the index of its own. */
  async #modes(paths: readonly string[]): Promise<Map<string, string>> {
    const listed = await this.#listed(paths, ['--stage'], resolve(this.scratch, 'index'));
    return new Map(listed.map((line) => [line.slice(line.indexOf('\t') + 1), line.slice(0, 6)]));
  }

  get #isOfPerson(): boolean {
    return this.change.repository !== undefined;
  }

  get #mirror(): string {
    return join(this.scratch, 'read');
  }

  async #found(path: string, replaced: ReadonlySet<string>): Promise<DiskFile> {
    if (!(await requireRealParents(this.path, path, { mayLack: true, replaced }))) return absent;
    try {
      return await readDiskFile(join(this.path, path), join(this.#mirror, path));
    } catch (error) {
      if (error instanceof NoPlainFile)
        throw new WorkTreeError(`${quotedPath(path)}: ${error.message}.`, [], { cause: error });
      if (hasCode(error, 'EACCES', 'EPERM'))
        throw new WorkTreeError(`${quotedPath(path)} cannot be read by this user.`, [], { cause: error });
      if (hasCode(error, 'EEXIST'))
        throw new WorkTreeError(`${quotedPath(path)} and another path of the patch are one file on this disk.`, [], {
          cause: error,
        });
      throw error;
    }
  }

  /** Those paths that are in the index of the repository, and by its sparse checkout not on the disk. */
  async #sparse(paths: readonly string[]): Promise<Set<string>> {
    if (!this.repository) return new Set();
    const listed = await this.#listed(paths, ['-v'], join(this.repository.gitDir, 'index'));
    return new Set(listed.filter((line) => /^s/i.test(line)).map((line) => line.slice(2)));
  }

  /** Those paths that Git ignores. */
  async #ignored(paths: readonly string[]): Promise<Set<string>> {
    const input = paths.map((path) => `${path}\0`).join('');
    if (input === '') return new Set();
    return new Set((await this.git(['check-ignore', '-z', '--stdin'], { input, codes: [0, 1] })).split('\0'));
  }

  async #listed(paths: readonly string[], options: readonly string[], index: string): Promise<string[]> {
    const listed: string[] = [];
    for (let start = 0; start < paths.length; start += maxNamedPaths) {
      const some = paths.slice(start, start + maxNamedPaths);
      const output = await this.git(['--literal-pathspecs', 'ls-files', '-z', ...options, '--', ...some], { index });
      listed.push(...output.split('\0').filter((line) => line !== ''));
    }
    return listed;
  }

  /** Has Git read the copies by the attributes that are on the disk. */
  async #copyAttributes(paths: readonly string[]): Promise<void> {
    const directories = new Set<string>(['.']);
    for (const path of paths)
      for (let parent = dirname(path); parent !== '.'; parent = dirname(parent)) directories.add(parent);
    for (const directory of directories) {
      const name = join(directory, '.gitattributes');
      const copy = join(this.#mirror, name);
      const found = await lstat(join(this.path, name)).catch(() => undefined);
      if (found?.isFile() !== true || (await lstat(copy).catch(() => undefined))) continue;
      await mkdir(dirname(copy), { recursive: true });
      await copyFile(join(this.path, name), copy);
    }
  }

  /** What differs between two trees, each path of which may be changed. */
  async #changes(from: string, to: string): Promise<{ path: string; was: DiskFile; isThere: boolean }[]> {
    const parts = (await this.git(['diff-tree', '-r', '-z', '--raw', '--no-renames', from, to])).split('\0');
    const raw: { path: string; before: string; after: string }[] = [];
    for (let at = 0; at + 1 < parts.length; at += 2) {
      const [before = '', after = ''] = (parts[at] ?? '').slice(1).split(' ');
      raw.push({ path: parts[at + 1] ?? '', before, after });
    }
    const removed = raw.filter(({ after }) => /^0+$/.test(after)).map(({ path }) => path);
    return raw.map(({ path, before, after }) => {
      const name = quotedPath(path);
      const read = this.#read.get(path);
      if (!read) throw new Error(`${path} is to be changed and was not read`);
      const { found, isSparse } = read;
      if (before === submodule || after === submodule)
        throw new WorkTreeError(
          `${name} is a submodule, whose commit the patch changes: move it yourself, with git -C ${name} checkout.`,
        );
      if (isSparse)
        throw new WorkTreeError(
          `${name} is outside of your sparse checkout. Bring it in (git sparse-checkout add ${quotedPath(dirname(path))}, or git sparse-checkout disable), and do it again.`,
        );
      if (/^0+$/.test(before) && (found.kind === 'file' || found.kind === 'link'))
        throw new WorkTreeError(
          `the file ${JSON.stringify(path)}, which .gitignore names, is where a new one would be.`,
        );
      const isThere = !/^0+$/.test(after);
      if (found.kind !== 'directory') return { path, was: found, isThere };
      if (isThere && removed.some((other) => other.startsWith(`${path}/`))) return { path, was: absent, isThere };
      throw new WorkTreeError(`${name} is a directory, where the patch has a file.`);
    });
  }

  /** A new file. A person's has the line ends that theirs had. */
  async #made(made: string, path: string, was: DiskFile): Promise<DiskFile> {
    const found = await readDiskFile(made);
    if (!this.#isOfPerson || found.kind !== 'file' || was.kind !== 'file') return found;
    const files = this.#mirror;
    const paths = { was: join(files, path), made, scratch: join(this.scratch, 'line-ends'), files };
    return (await keepLineEnds(this.git, path, paths)) ? readDiskFile(made) : found;
  }

  /** Makes the new files, on the disk on which they will be. */
  async #stage(
    directory: string,
    to: string,
    changes: readonly { readonly path: string; readonly was: DiskFile; readonly isThere: boolean }[],
  ): Promise<Replacement[]> {
    const staged = stagedIn(directory);
    const input = changes.flatMap(({ path, isThere }) => (isThere ? [`${path}\0`] : [])).join('');
    await this.git(['read-tree', to], { index: 'wanted' });
    await this.git(['checkout-index', '-z', '--stdin'], { index: 'wanted', input, files: staged });
    const files: Replacement[] = [];
    for (const { path, was, isThere } of changes) {
      const made = isThere ? await this.#made(join(staged, path), path, was) : absent;
      if (isThere && made.kind !== 'file' && made.kind !== 'link')
        throw new WorkTreeError(`${quotedPath(path)} cannot be made.`);
      const becomes =
        made.kind === 'file' ? { ...made, mode: await takePermissions(join(staged, path), made, was) } : made;
      if (!isSameFile(was, becomes)) files.push({ path, was, becomes });
    }
    const plain = files.filter(({ becomes }) => becomes.kind === 'file').map(({ path }) => join(staged, path));
    for (let start = 0; start < plain.length; start += syncedAtATime)
      await Promise.all(plain.slice(start, start + syncedAtATime).map(syncToDisk));
    const added = files.filter(({ was }) => was.kind === 'absent').map(({ path }) => path);
    const removed = new Set(files.filter(({ becomes }) => becomes.kind === 'absent').map(({ path }) => path));
    await requireOneSpelling(this.path, added, removed);
    for (const { path } of files) await requireRealParents(this.path, path, { mayLack: true, replaced: removed });
    return files;
  }
}

/** The directory for what is ours, on the disk of the files: in `.git`, or beside the files where that is on another disk. */
async function ownDirectory(path: string, repository: GitDir | undefined): Promise<string> {
  const beside = join(path, '.suzumio');
  if (!repository) return beside;
  const [files, git] = await Promise.all([lstat(path), lstat(repository.gitDir)]);
  if (files.dev === git.dev) return join(repository.gitDir, 'suzumio');
  await mkdir(beside, { recursive: true });
  const ignore = await open(join(beside, '.gitignore'), 'wx').catch(() => undefined);
  await ignore?.writeFile('*\n');
  await ignore?.close();
  return beside;
}

/** Failures of the system name the path. */
function namedFailure(error: unknown): unknown {
  const { code, syscall, path } = error as NodeJS.ErrnoException;
  if (code === undefined || syscall === undefined || path === undefined) return error;
  const meanings: Readonly<Record<string, string>> = {
    EACCES: 'this user may not write there',
    EROFS: 'the file system is read-only',
    ENOSPC: 'the disk is full',
    EDQUOT: 'the quota is used up',
  };
  return new WorkTreeError(`${quotedPath(path)}: ${meanings[code] ?? code}.`, [], { cause: error });
}
