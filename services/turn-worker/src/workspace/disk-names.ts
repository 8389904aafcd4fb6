import { lstat, mkdir, mkdtemp, rm, writeFile } from 'node:fs/promises';
import { dirname, join } from 'node:path';
import { errnoOf } from '../files/errno.js';

const diskItself = { mkdir, writeFile, lstat, rm };

/** What names are made with. */
export type NameMaker = typeof diskItself;

/** What is put below a directory: files and directories by their paths, a directory before what is in it. */
export type Named = readonly { readonly kind: 'file' | 'directory'; readonly path: string }[];

/** Errors of a name that the disk does not hold, or that is another one's there. */
const ofNames = new Set(['EEXIST', 'EINVAL', 'EILSEQ', 'ENAMETOOLONG', 'ENOTDIR', 'EISDIR']);

/** Two names that are one where upper and lower case are, and two where the ways to write an accent are. */
const pairs = [
  ['a', 'A'],
  ['\u00e9', 'e\u0301'],
] as const;

/**
 * Tells what a disk has room for beside what is there by its names. Disks that tell case or accents apart take any; of another one,
 * only it knows which names it takes for one, so that empty files are made there.
 */
export class DiskNames {
  private constructor(
    private readonly directory: string,
    private readonly maker: NameMaker,
    private readonly tellsApart: boolean,
  ) {}

  /** @param place a directory on the disk, in which everything made is removed in the end */
  static async within<Result>(
    place: string,
    body: (names: DiskNames) => Promise<Result>,
    maker: NameMaker = diskItself,
  ): Promise<Result> {
    await mkdir(place, { recursive: true, mode: 0o700 });
    const directory = await mkdtemp(join(place, 'names-'));
    try {
      return await body(new DiskNames(directory, maker, await tellsApart(directory, maker)));
    } finally {
      await rm(directory, { recursive: true, force: true });
    }
  }

  /** Whether something can be there beside what was taken before; it is taken then, and else nothing of it. */
  async take(path: string, listed: Named | undefined): Promise<boolean> {
    if (this.tellsApart) return true;
    const top = join(this.directory, 'all', path);
    await this.maker.mkdir(dirname(top), { recursive: true });
    if (!(await this.#make(top, listed ? 'directory' : 'file'))) return false;
    for (const entry of listed ?? []) {
      if (await this.#make(join(top, entry.path), entry.kind)) continue;
      await this.maker.rm(top, { recursive: true, force: true });
      return false;
    }
    return true;
  }

  async #make(path: string, kind: 'file' | 'directory'): Promise<boolean> {
    try {
      if (kind === 'directory') await this.maker.mkdir(path);
      else await this.maker.writeFile(path, '', { flag: 'wx' });
      return true;
    } catch (error) {
      if (ofNames.has(errnoOf(error) ?? '')) return false;
      throw error;
    }
  }
}

async function tellsApart(directory: string, maker: NameMaker): Promise<boolean> {
  for (const [name, other] of pairs) {
    try {
      await maker.writeFile(join(directory, name), '');
    } catch {
      return false;
    }
    const found = await maker.lstat(join(directory, other)).catch((error: unknown) => errnoOf(error) !== 'ENOENT');
    if (found) return false;
  }
  return true;
}
