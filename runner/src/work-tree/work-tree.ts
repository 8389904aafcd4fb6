import { copyFile, lstat, mkdir, mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join, resolve } from 'node:path';
import { GitFailed, type GitOptions, runGit } from './run-git.js';

/** How long one command of Git may take, unless it is given more. */
const timeoutMs = 120_000;

/** Runs Git, and returns what it prints. */
export type Git = (args: readonly string[], options?: CommandOptions & { readonly index?: string }) => Promise<string>;

/** Where a repository keeps its index and branches, and its objects. */
export interface GitPlace {
  readonly gitDir: string;
  readonly objects: string;
}

interface Options extends Pick<GitOptions, 'env' | 'signal'> {
  /** The repository that the files are of. @default `.git`, where that is a directory */
  readonly repository?: GitPlace;
}
type CommandOptions = Pick<GitOptions, 'input' | 'outputTo' | 'codes' | 'timeoutMs'>;

/**
 * The files of a directory, as Git reads and writes them: with an index of its own, and objects that are gone afterwards. Where it
 * is a clone, that one's index, branches and objects stay as they are.
 */
export class WorkTree {
  private constructor(
    readonly path: string,
    private readonly own: string,
    private readonly repository: GitPlace | undefined,
    private readonly options: Options,
  ) {}

  /** @param use gets the files of `path` for as long as it takes */
  static async use<Result>(path: string, options: Options, use: (tree: WorkTree) => Promise<Result>): Promise<Result> {
    const own = await mkdtemp(join(tmpdir(), 'suzumio-tree-'));
    try {
      const repository = options.repository ?? (await cloneAt(path));
      const tree = new WorkTree(path, own, repository, options);
      await mkdir(join(own, 'objects'));
      // Files that the index knows are not read again.
      if (repository) await copyFile(join(repository.gitDir, 'index'), join(own, 'index')).catch(() => undefined);
      else await tree.inClone(['init', '--quiet', '--bare', '--template=', tree.#place.gitDir]);
      return await use(tree);
    } finally {
      await rm(own, { recursive: true, force: true });
    }
  }

  /** Whether the files are those of a repository. */
  get isClone(): boolean {
    return this.repository !== undefined;
  }

  get #place(): GitPlace {
    const gitDir = join(this.own, 'git');
    return this.repository ?? { gitDir, objects: join(gitDir, 'objects') };
  }

  /** The directory for what is made, which is gone afterwards. */
  get scratch(): string {
    return this.own;
  }

  /** The tree of all files as they are, committed or not, with new ones but those that `.gitignore` names. */
  async files(): Promise<string> {
    // Where `.gitignore` names what is left out here, too, Git says so with 1, and has added the rest.
    await this.git(['add', '--all', '--', '.', ':(exclude).suzumio'], { codes: [0, 1] });
    return this.written();
  }

  /** The tree that the index of its own has. */
  async written(): Promise<string> {
    return (await this.git(['write-tree'])).trim();
  }

  /**
   * Brings files from one tree to another, all of them or none.
   *
   * @param from the tree that they are, as `files` says
   * @throws GitFailed where a file is in the way
   */
  async move(from: string, to: string): Promise<void> {
    await this.#requireRoom(from, to);
    try {
      await this.git(['read-tree', '-m', '-u', from, to]);
    } catch (error) {
      // Git looks at all first. What stops it later, as a full disk, leaves some behind.
      await this.git(['read-tree', '--reset', '-u', from]).catch(() => undefined);
      throw error;
    }
  }

  /** The paths at which two trees differ. */
  async differing(from: string, to: string, ...options: readonly string[]): Promise<string[]> {
    const names = await this.git(['diff-tree', '-r', '-z', '--name-only', '--no-renames', ...options, from, to]);
    return names.split('\0').filter((name) => name !== '');
  }

  /** Git takes files that `.gitignore` names to be worth nothing, and writes over them. */
  async #requireRoom(from: string, to: string): Promise<void> {
    for (const path of await this.differing(from, to, '--diff-filter=A')) {
      const there = await lstat(join(this.path, path)).catch(() => undefined);
      if (!there || there.isDirectory()) continue;
      throw new GitFailed(`the file ${JSON.stringify(path)}, which .gitignore names, is where a new one would be`);
    }
  }

  /** Runs Git on these files and on objects of its own. `index` names another index of its own. */
  readonly git: Git = (args, options = {}) => {
    const { env } = this.options;
    const { index = 'index', ...others } = options;
    const { gitDir, objects } = this.#place;
    return this.#run(args, others, {
      ...env,
      GIT_DIR: gitDir,
      GIT_WORK_TREE: this.path,
      GIT_INDEX_FILE: resolve(this.own, index),
      GIT_OBJECT_DIRECTORY: join(this.own, 'objects'),
      GIT_ALTERNATE_OBJECT_DIRECTORIES: objects,
      GIT_OPTIONAL_LOCKS: '0',
    });
  };

  /** Runs Git as a program in the workspace does: what it writes stays. */
  readonly inClone: Git = (args, options = {}) => {
    const { index, ...others } = options;
    return this.#run(args, others, { ...this.options.env, ...(index === undefined ? {} : { GIT_INDEX_FILE: index }) });
  };

  #run(args: readonly string[], options: CommandOptions, env: NodeJS.ProcessEnv): Promise<string> {
    const plain = ['-c', 'core.fsmonitor=false', '-c', 'core.quotePath=true'];
    const { signal } = this.options;
    return runGit([...plain, ...args], { timeoutMs, ...options, env, cwd: this.path, signal });
  }
}

async function cloneAt(path: string): Promise<GitPlace | undefined> {
  const gitDir = join(path, '.git');
  const found = await lstat(gitDir).catch(() => undefined);
  return found?.isDirectory() === true ? { gitDir, objects: join(gitDir, 'objects') } : undefined;
}
