import { lstat, mkdir, mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join, resolve } from 'node:path';
import { type GitOptions, type HashName, ownEnv, runGit } from './run-git.js';

/** How long one command of Git may take, unless it is given more. */
const timeoutMs = 120_000;

/** Runs Git, and returns what it prints. */
export type Git = (
  args: readonly string[],
  options?: CommandOptions & { readonly index?: string; readonly files?: string },
) => Promise<string>;

/** Where a repository keeps its index and branches, and its objects. */
export interface GitDir {
  readonly gitDir: string;
  readonly objects: string;
}

export interface TreeOptions extends Pick<GitOptions, 'env' | 'signal'> {
  /** The repository that the files are of. @default `.git`, where that is a directory */
  readonly repository?: GitDir;
}

type CommandOptions = Pick<GitOptions, 'input' | 'outputTo' | 'codes' | 'timeoutMs'>;

/**
 * The files of a directory, as Git reads them: with an index of its own, and objects that are gone afterwards. Where it is a
 * clone, that one's index, branches and objects stay as they are.
 */
export class WorkTree {
  #neutralDir: Promise<string> | undefined;

  protected constructor(
    readonly path: string,
    /** A directory for what is made, which is gone afterwards. */
    readonly scratch: string,
    protected readonly repository: GitDir | undefined,
    private readonly options: TreeOptions,
  ) {}

  /** @param use gets the files of `path` for as long as it takes */
  static async use<Result>(
    path: string,
    options: TreeOptions,
    use: (tree: WorkTree) => Promise<Result>,
  ): Promise<Result> {
    const repository = options.repository ?? (await cloneAt(path));
    return inScratch(join(tmpdir(), 'suzumio-tree-'), async (scratch) => {
      const tree = new WorkTree(path, scratch, repository, options);
      await tree.prepare();
      return use(tree);
    });
  }

  protected async prepare(): Promise<void> {
    await mkdir(join(this.scratch, 'objects'));
    if (!this.repository) await this.inClone(['init', '--quiet', '--bare', '--template=', this.gitDirs.gitDir]);
  }

  /** Whether the files are those of a repository. */
  get isClone(): boolean {
    return this.repository !== undefined;
  }

  protected get gitDirs(): GitDir {
    const gitDir = join(this.scratch, 'git');
    return this.repository ?? { gitDir, objects: join(gitDir, 'objects') };
  }

  /** The tree that the index of its own has. */
  async written(): Promise<string> {
    return (await this.git(['write-tree', '--missing-ok'])).trim();
  }

  /** The paths at which two trees differ. */
  async differing(from: string, to: string, ...options: readonly string[]): Promise<string[]> {
    const names = await this.git(['diff-tree', '-r', '-z', '--name-only', '--no-renames', ...options, from, to]);
    return names.split('\0').filter((name) => name !== '');
  }

  /**
   * Runs Git on these files and on objects of its own. `index` names another index of its own, `files` another directory of files.
   */
  readonly git: Git = (args, options = {}) => {
    const { index = 'index', files = this.path, ...others } = options;
    const { gitDir, objects } = this.gitDirs;
    return this.#run(
      args,
      { ...others, cwd: files },
      {
        ...this.options.env,
        GIT_DIR: gitDir,
        GIT_WORK_TREE: files,
        GIT_INDEX_FILE: resolve(this.scratch, index),
        GIT_OBJECT_DIRECTORY: join(this.scratch, 'objects'),
        GIT_ALTERNATE_OBJECT_DIRECTORIES: /[:"]/.test(objects) ? JSON.stringify(objects) : objects,
        GIT_OPTIONAL_LOCKS: '0',
      },
    );
  };

  /**
   * Runs Git on the objects of the repository and its own, without any configuration, attributes or filters but those of the trees that it
   * is given.
   */
  readonly neutral: Git = async (args, options = {}) => {
    this.#neutralDir ??= this.#makeNeutral();
    const { index = 'index', files = await this.#neutralDir, ...others } = options;
    const { objects } = this.gitDirs;
    return this.#run(
      ['-c', 'core.attributesFile=/dev/null', ...args],
      { ...others, cwd: files },
      {
        ...ownEnv(this.options.env),
        GIT_ATTR_NOSYSTEM: '1',
        GIT_NO_REPLACE_OBJECTS: '1',
        GIT_DIR: await this.#neutralDir,
        GIT_WORK_TREE: files,
        GIT_INDEX_FILE: resolve(this.scratch, index),
        GIT_OBJECT_DIRECTORY: join(this.scratch, 'objects'),
        GIT_ALTERNATE_OBJECT_DIRECTORIES: /[:"]/.test(objects) ? JSON.stringify(objects) : objects,
        GIT_OPTIONAL_LOCKS: '0',
      },
    );
  };

  /** By which hash the repository names its objects. */
  async hashName(): Promise<HashName> {
    const { gitDir } = this.gitDirs;
    const format = await this.inClone([`--git-dir=${gitDir}`, 'rev-parse', '--show-object-format']);
    return format.trim() === 'sha256' ? 'sha256' : 'sha1';
  }

  async #makeNeutral(): Promise<string> {
    const path = join(this.scratch, 'neutral');
    const format = `--object-format=${await this.hashName()}`;
    await this.inClone(['init', '--quiet', '--bare', '--template=', format, path]);
    return path;
  }

  /** Runs Git as a program in the workspace does: what it writes stays. */
  readonly inClone: Git = (args, options = {}) => {
    const { index, files = this.path, ...others } = options;
    return this.#run(
      args,
      { ...others, cwd: files },
      {
        ...this.options.env,
        ...(index === undefined ? {} : { GIT_INDEX_FILE: index }),
      },
    );
  };

  #run(
    args: readonly string[],
    options: CommandOptions & { readonly cwd: string },
    env: NodeJS.ProcessEnv,
  ): Promise<string> {
    // An index of our own has all files, those outside of a sparse checkout, too.
    const plain = [
      'core.fsmonitor=false',
      'core.quotePath=true',
      ...(env['GIT_WORK_TREE'] === undefined ? [] : ['core.sparseCheckout=false']),
    ];
    const { signal } = this.options;
    return runGit([...plain.flatMap((setting) => ['-c', setting]), ...args], { timeoutMs, ...options, env, signal });
  }
}

/** The repository of a directory; undefined where it has no `.git` of its own. */
export async function cloneAt(path: string): Promise<GitDir | undefined> {
  const gitDir = join(path, '.git');
  const found = await lstat(gitDir).catch(() => undefined);
  return found?.isDirectory() === true ? { gitDir, objects: join(gitDir, 'objects') } : undefined;
}

/**
 * Makes a directory that is gone afterwards.
 *
 * @param prefix its path, without the last characters
 */
export async function inScratch<Result>(prefix: string, use: (scratch: string) => Promise<Result>): Promise<Result> {
  const scratch = await mkdtemp(prefix);
  try {
    return await use(scratch);
  } finally {
    await rm(scratch, { recursive: true, force: true });
  }
}
