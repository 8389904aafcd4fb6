import {
  copyFile,
  constants,
  link,
  lstat,
  mkdir,
  open,
  readdir,
  readFile,
  readlink,
  rename,
  rm,
  rmdir,
  symlink,
  unlink,
} from 'node:fs/promises';
import { dirname, join } from 'node:path';
import { quotedPath } from '@suzumio/protocol/quoted-path';
import { absent, type DiskFile, hasSameBytes, isSameFile, readDiskFile, syncToDisk } from './disk-file.js';
import { hasCode } from '../sandbox/paths/refusal.js';
import { requireRealParents } from './own-path.js';
import { type LeftFile, WorkTreeError } from './work-tree-error.js';

/** What a path had when it was read, and what it gets. */
export interface Replacement {
  readonly path: string;
  readonly was: DiskFile;
  /** A file, a link or nothing. */
  readonly becomes: DiskFile;
}

interface Plan {
  readonly top: string;
  readonly at: string;
  readonly files: readonly Replacement[];
}

/** Called before each change of the disk, with what it is. Tests end the process here. */
export type OnStep = (step: string) => void;

/** The files of a plan are made here before they are moved to their paths. */
export const stagedIn = (directory: string) => join(directory, 'new');

/** A file was written while it was replaced. */
class ConcurrentWrite extends Error {
  constructor(path: string, what: string) {
    super(`${quotedPath(path)} ${what} while this ran. Do it again.`);
  }
}

/**
 * Replaces files of a directory: all of them or none, and no byte that was not read before is lost. The plan is on the disk first.
 * Each old file is renamed aside, into the directory of the plan, and compared there with what was read; a new one is linked to its
 * path, which fails where something is. A plan that broke is undone by the next run.
 */
export class FileReplacement {
  private constructor(
    /** The directory of the plan, which is on the disk of the files. */
    private readonly directory: string,
    private readonly plan: Plan,
    private readonly onStep: OnStep,
  ) {}

  /**
   * Carries out a plan, whose new files are in `stagedIn(directory)`.
   *
   * @throws WorkTreeError where something was written meanwhile, or a file cannot be replaced
   */
  static async carryOut(
    directory: string,
    { top, files, onStep = () => undefined }: Pick<Plan, 'top' | 'files'> & { readonly onStep?: OnStep | undefined },
  ): Promise<FileReplacement> {
    const plan = { top, at: new Date().toISOString(), files };
    const replacement = new FileReplacement(directory, plan, onStep);
    await replacement.#write('plan.json', JSON.stringify(plan));
    try {
      await replacement.#all();
      return replacement;
    } catch (error) {
      const left = await replacement.undo();
      throw new WorkTreeError(reasonOf(error), left, { cause: error }, true);
    }
  }

  /** The plan in a directory that was neither carried out nor undone; undefined where there is none. */
  static async broken(directory: string): Promise<FileReplacement | undefined> {
    const text = await readFile(join(directory, 'plan.json'), 'utf8').catch(() => undefined);
    const names: string[] = await readdir(directory).catch(() => []);
    if (text === undefined || names.includes('ended')) return undefined;
    try {
      return new FileReplacement(directory, JSON.parse(text) as Plan, () => undefined);
    } catch {
      // The plan itself is not whole, so no file was touched.
      return undefined;
    }
  }

  /** Paths whose file was written to after it was moved away, by a program that had it open. */
  static async writtenLate(directory: string): Promise<LeftFile[]> {
    const text = await readFile(join(directory, 'plan.json'), 'utf8').catch(() => undefined);
    if (text === undefined) return [];
    const { files } = JSON.parse(text) as Plan;
    const late: LeftFile[] = [];
    for (const [index, { path, was, becomes }] of files.entries()) {
      for (const [name, had] of [['old', was] as const, ['undone', becomes] as const]) {
        const copy = join(directory, name, String(index));
        const now = await readDiskFile(copy).catch(() => absent);
        if (now.kind !== 'absent' && !hasSameBytes(now, had)) late.push({ path, copy });
      }
    }
    return late;
  }

  /** The paths that have what the plan gave them. */
  async changed(): Promise<string[]> {
    const paths: string[] = [];
    for (const { path, becomes } of this.plan.files) {
      if (hasSameBytes(await readDiskFile(this.#at(path)).catch(() => absent), becomes)) paths.push(path);
    }
    return paths;
  }

  /** Whether an old file was set aside. */
  get hasOldFiles(): boolean {
    return this.plan.files.some(({ was }) => was.kind !== 'absent');
  }

  /** Ends the plan: it is not undone any more. */
  async end(): Promise<void> {
    await this.#write('ended', '');
  }

  /** Puts back what was there. A path that has other bytes than the plan gave it stays as it is. @returns those paths */
  async undo(): Promise<LeftFile[]> {
    await rm(join(this.directory, 'ended'), { force: true });
    const left: LeftFile[] = [];
    for (const [index, file] of [...this.plan.files.entries()].reverse()) {
      try {
        if (!(await this.#undoOne(file, index))) left.push(this.#left(file, index));
      } catch {
        left.push(this.#left(file, index));
      }
    }
    await this.#write('ended', JSON.stringify({ undone: true, left }));
    return left;
  }

  /** The text of a new file is at its path. */
  #left({ path, was }: Replacement, index: number): LeftFile {
    return { path, copy: was.kind === 'absent' ? this.#at(path) : this.#old(index) };
  }

  async #all(): Promise<void> {
    const entries = [...this.plan.files.entries()];
    // A file may come to be where a directory was, and the other way round.
    for (const [index, file] of entries.filter(([, { becomes }]) => becomes.kind === 'absent')) {
      await this.#setAside(file, index);
      await this.#removeEmptyParents(file.path);
    }
    for (const [index, file] of entries.filter(([, { becomes }]) => becomes.kind !== 'absent')) {
      await this.#setAside(file, index);
      await this.#link(file);
    }
    // A program that had one of them open may have written to it since.
    for (const [index, { path, was }] of entries) {
      if (was.kind === 'absent') continue;
      if (!isSameFile(await readDiskFile(this.#old(index)), was)) throw new ConcurrentWrite(path, 'was written to');
    }
    for (const parent of new Set(entries.map(([, { path }]) => dirname(this.#at(path))))) {
      await syncToDisk(parent).catch(() => undefined);
    }
  }

  async #setAside({ path, was }: Replacement, index: number): Promise<void> {
    if (was.kind === 'absent') return;
    await requireRealParents(this.plan.top, path);
    await mkdir(join(this.directory, 'old'), { recursive: true });
    this.onStep(`set aside ${path}`);
    await rename(this.#at(path), this.#old(index)).catch((error: unknown) => {
      if (hasCode(error, 'ENOENT')) throw new ConcurrentWrite(path, 'was removed');
      throw error;
    });
    if (!isSameFile(await readDiskFile(this.#old(index)), was)) throw new ConcurrentWrite(path, 'was written to');
  }

  async #link({ path }: Replacement): Promise<void> {
    await this.#makeParents(path);
    const staged = join(stagedIn(this.directory), path);
    this.onStep(`link ${path}`);
    await linkOrCopy(staged, this.#at(path)).catch((error: unknown) => {
      if (hasCode(error, 'EEXIST')) throw new ConcurrentWrite(path, 'came to be there');
      throw error;
    });
    this.onStep(`linked ${path}`);
    await unlink(staged);
  }

  /** @returns whether the path is as it was before */
  async #undoOne({ path, was, becomes }: Replacement, index: number): Promise<boolean> {
    const now = await readDiskFile(this.#at(path));
    if (was.kind === 'absent') {
      if (now.kind === 'absent' || !(await this.#isLinked(path, now, becomes))) return true;
      return hasSameBytes(now, becomes) ? this.#unlink({ path, becomes }, index) : false;
    }
    const old = await readDiskFile(this.#old(index));
    if (old.kind === 'absent') return true;
    await requireRealParents(this.plan.top, path, { mayLack: true });
    if (isSameFile(now, old)) {
      // Put back before, with both of its paths still there; or written again with the same bytes.
      const [there, aside] = await Promise.all([this.#at(path), this.#old(index)].map((file) => lstat(file)));
      if (there?.ino === aside?.ino) await unlink(this.#old(index));
      return true;
    }
    if (becomes.kind !== 'absent' && hasSameBytes(now, becomes)) await this.#unlink({ path, becomes }, index);
    else if (now.kind !== 'absent') return false;
    await this.#makeParents(path);
    return this.#restore(this.#old(index), path);
  }

  /** Whether what is at a path is the plan's new file, or became of it: that is no longer where it was made. */
  async #isLinked(path: string, now: DiskFile, becomes: DiskFile): Promise<boolean> {
    const [there, staged] = await Promise.all(
      [this.#at(path), join(stagedIn(this.directory), path)].map((file) => lstat(file).catch(() => undefined)),
    );
    // Of a link there are two for a moment.
    return !staged || staged.ino === there?.ino || (becomes.kind === 'link' && hasSameBytes(now, becomes));
  }

  /** Moves a new file away again. @returns whether it was that, and not one that was written in this moment */
  async #unlink({ path, becomes }: Pick<Replacement, 'path' | 'becomes'>, index: number): Promise<boolean> {
    const away = join(this.directory, 'undone', String(index));
    await mkdir(dirname(away), { recursive: true });
    await rename(this.#at(path), away);
    if (!hasSameBytes(await readDiskFile(away), becomes)) {
      await this.#restore(away, path);
      return false;
    }
    await this.#removeEmptyParents(path);
    return true;
  }

  /** Moves a file to its path, where nothing is. */
  async #restore(from: string, path: string): Promise<boolean> {
    const at = this.#at(path);
    if ((await lstat(from)).isDirectory()) {
      if ((await readDiskFile(at)).kind !== 'absent') return false;
      await rename(from, at);
      return true;
    }
    try {
      await linkOrCopy(from, at);
    } catch (error) {
      if (hasCode(error, 'EEXIST')) return false;
      throw error;
    }
    await unlink(from);
    return true;
  }

  async #makeParents(path: string): Promise<void> {
    const parts = path.split('/').slice(0, -1);
    for (let count = 1; count <= parts.length; count += 1) {
      const parent = this.#at(parts.slice(0, count).join('/'));
      await mkdir(parent).catch((error: unknown) => {
        if (!hasCode(error, 'EEXIST')) throw error;
      });
    }
    await requireRealParents(this.plan.top, path);
  }

  async #removeEmptyParents(path: string): Promise<void> {
    for (let parent = dirname(path); parent !== '.'; parent = dirname(parent)) {
      const isRemoved = await rmdir(this.#at(parent)).then(
        () => true,
        () => false,
      );
      if (!isRemoved) return;
    }
  }

  #at(path: string): string {
    return join(this.plan.top, path);
  }

  #old(index: number): string {
    return join(this.directory, 'old', String(index));
  }

  async #write(name: string, text: string): Promise<void> {
    const path = join(this.directory, name);
    const next = `${path}.next`;
    const file = await open(next, 'w', 0o600);
    try {
      await file.writeFile(text);
      await file.sync();
    } finally {
      await file.close();
    }
    this.onStep(`write ${name}`);
    await rename(next, path);
    for (const parent of [this.directory, dirname(this.directory)]) await syncToDisk(parent);
  }
}

/** Gives a file a second path, at which nothing is; a copy where the file system knows no links. */
async function linkOrCopy(from: string, to: string): Promise<void> {
  try {
    // Some systems make a second path of what a link leads to.
    if ((await lstat(from)).isSymbolicLink()) await symlink(await readlink(from), to);
    else await link(from, to);
  } catch (error) {
    if (!hasCode(error, 'EPERM', 'ENOTSUP', 'EOPNOTSUPP', 'ENOSYS', 'EMLINK')) throw error;
    await copyFile(from, to, constants.COPYFILE_EXCL);
  }
}

const meanings: Readonly<Record<string, string>> = {
  EACCES: 'this user may not write there',
  EPERM: 'this user may not write there',
  EROFS: 'the file system is read-only',
  ENOSPC: 'the disk is full',
  EDQUOT: 'the quota is used up',
  EXDEV: 'it is on another disk than the repository',
  EISDIR: 'a directory is there',
  ENOTDIR: 'a file is where its directory would be',
  ENOTEMPTY: 'a directory with files is there',
};

function reasonOf(error: unknown): string {
  if (error instanceof ConcurrentWrite || error instanceof WorkTreeError)
    return error.message.replace(/^Nothing was changed: /, '');
  const { code = '', path = '', dest = '', message } = error as NodeJS.ErrnoException & { dest?: string };
  const meaning = meanings[code];
  return meaning === undefined
    ? `${message}.`
    : `${quotedPath(dest === '' ? path : dest)} cannot be written: ${meaning}.`;
}

/** What was found of earlier replacements. */
export interface Recovered {
  /** Directories of plans that were undone, with what could not be put back. */
  readonly undone: readonly { readonly directory: string; readonly left: readonly LeftFile[] }[];
  /** Old files that were written to after they were replaced. */
  readonly late: readonly LeftFile[];
}

/**
 * Undoes plans that broke, and removes those that ended `retentionMs` ago. What was written to an old file since stays.
 *
 * @param area the directory of all plans
 */
export async function recoverReplacements(area: string, retentionMs: number, now = Date.now()): Promise<Recovered> {
  const undone: Recovered['undone'][number][] = [];
  const late: LeftFile[] = [];
  for (const name of (await readdir(area).catch(() => [])).sort()) {
    const directory = join(area, name);
    const broken = await FileReplacement.broken(directory);
    if (broken) undone.push({ directory, left: await broken.undo() });
    else {
      const written = await FileReplacement.writtenLate(directory);
      late.push(...written);
      const { mtimeMs } = await lstat(directory);
      if (written.length === 0 && now - mtimeMs >= retentionMs) await rm(directory, { recursive: true, force: true });
    }
  }
  return { undone, late };
}
