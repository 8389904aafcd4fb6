import { mkdir, mkdtemp, rm, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import type { Environment } from '@suzumio/core/config/environment';
import { messageOf } from '@suzumio/contract/errors/suzumio-error';
import type { GitAuthor } from '@suzumio/protocol/git-author';
import { type CloneRequest, lookMs, type LookRequest } from '@suzumio/protocol/repository';
import { inspectTree, type RunGit } from '@suzumio/runtime/repository/inspect-tree';
import { AttemptFailure } from '../engine/attempt-failure.js';
import type { WorkspaceBounds } from '../workspace/workspace-bounds.js';
import { Git } from './git.js';
import { errnoOf } from '../files/errno.js';
import { removeTree } from '../files/remove-tree.js';
import { type Looked, packNews } from './pack-news.js';
import { depthOf, type Fetched, Mirrors } from './mirrors.js';

export interface RepositoriesOptions {
  /** The worker's own directory for Git. */
  directory: string;
  /** Of Git's own files, and of workspaces that are cloned without bounds of their own. */
  bounds: WorkspaceBounds;
  /**
   * The longest time that fetching and cloning may take, in milliseconds, and waiting before it for others who fetch the same
   * repository.
   */
  cloneMs: number;
  /** Where the proxies are named, and the authorities that sign certificates. @default none */
  environment?: Environment | undefined;
  /** The longest time that looking for what is new may take where there is a mirror, in milliseconds. @default {@link lookMs} */
  lookMs?: number;
}

export interface LookOptions {
  /** Of the workspace. */
  bounds?: WorkspaceBounds;
  /** Throws unless a repository of this host may be cloned, by its path with links resolved, once it is open. */
  check: (real: string) => void;
  /** Directories that are not captured: see `ignoredRoots`. */
  ignored?: readonly string[];
  signal: AbortSignal;
}

export interface CloneOptions extends LookOptions {
  /** Who commits in the clone, whatever runs Git there. */
  author: GitAuthor;
}

export interface Cloned {
  /** The id of the commit that the branch begins at. */
  commit: string;
  /** What is captured though it lies in ignored directories: see `trackedPaths`. */
  tracked: string[];
}

/** Clones repositories into new workspaces. Git runs nowhere else on this host, and never after an agent's programs. */
export class Repositories {
  readonly #git: Git;
  readonly #mirrors: Mirrors;
  #cleared: Promise<void> | undefined;

  constructor(private readonly options: RepositoriesOptions) {
    const { directory, bounds, cloneMs } = options;
    this.#git = new Git({ directory, maxFileBytes: bounds.maxFileBytes, environment: options.environment });
    this.#mirrors = new Mirrors({
      git: this.#git,
      directory: join(directory, 'mirrors'),
      maxBytes: bounds.maxBytes,
      waitMs: cloneMs,
    });
  }

  /**
   * Makes an empty directory a clone, on the agent's branch. The clone shares nothing with the mirror.
   *
   * @throws AttemptFailure that says what is wrong with the repository; what `signal` was aborted with; what `check`
   *   throws
   */
  async clone(
    request: CloneRequest,
    to: string,
    { author, bounds = this.options.bounds, check, ignored = [], signal }: CloneOptions,
  ): Promise<Cloned> {
    const how = { signal, check, what: 'cloned', mostMs: () => this.options.cloneMs } as const;
    return this.#mirrors.fetch(request, how, async (fetched, either) => {
      const tracked = await this.#inspect(fetched, request, { bounds, ignored, signal: either });
      await this.#cloneFrom(fetched, request, to, author, either);
      return { commit: fetched.commit, tracked };
    });
  }

  /**
   * Looks where a repository is now that was cloned before, and packs what is new there. No clone changes.
   *
   * @param use is given what was found; its pack is gone afterwards
   * @throws AttemptFailure that says why nothing could be found out; what `signal` was aborted with; what `check` and `use` throw
   */
  async look<Result>(
    request: LookRequest,
    { bounds = this.options.bounds, check, ignored = [], signal }: LookOptions,
    use: (looked: Looked) => Promise<Result>,
  ): Promise<Result> {
    const { cloneMs, lookMs: againMs = lookMs } = this.options;
    const mostMs = (hasMirror: boolean) => (hasMirror ? againMs : cloneMs);
    const own = await this.#directoryFor(request.git);
    try {
      const how = { signal, check, what: 'fetched', mostMs } as const;
      const looked = await this.#mirrors.fetch(request, how, async (fetched, either) => {
        // What was there before was looked at before.
        if (fetched.commit !== request.known.at(-1)) {
          await this.#inspect(fetched, request, { bounds, ignored, signal: either });
        }
        return packNews(this.#git, fetched, request, { directory: own, signal: either });
      });
      return await use(looked);
    } finally {
      await removeTree(own);
    }
  }

  async #inspect(
    { mirror, commit }: Fetched,
    request: CloneRequest,
    { bounds, ignored, signal }: { bounds: WorkspaceBounds; ignored: readonly string[]; signal: AbortSignal },
  ): Promise<string[]> {
    const run: RunGit = (args, options) => this.#git.run(args, { ...options, signal });
    const scratch = join(mirror, 'suzumio-index');
    try {
      return await inspectTree(run, { gitDir: mirror, commit, request, bounds, ignored, scratch });
    } finally {
      await Promise.all([scratch, `${scratch}.lock`].map((file) => rm(file, { force: true })));
    }
  }

  /** Makes a directory for what is new in a repository. What a killed process has left of such is removed before the first. */
  async #directoryFor(git: string): Promise<string> {
    const news = join(this.options.directory, 'news');
    try {
      this.#cleared ??= removeTree(news).catch((error: unknown) => {
        this.#cleared = undefined;
        throw error;
      });
      await this.#cleared;
      await mkdir(news, { recursive: true, mode: 0o700 });
      return await mkdtemp(`${news}/`);
    } catch (error) {
      const errno = errnoOf(error);
      // A full disk is met by all of the turn.
      if (errno === undefined || errno === 'ENOSPC') throw error;
      const told = `This worker cannot make a directory for what is new in ${git}: ${messageOf(error)}`;
      throw new AttemptFailure('repository-unavailable', told, { cause: error });
    }
  }

  async #cloneFrom(
    { mirror, reference, commit }: Fetched,
    { git: source, depth, branch }: CloneRequest,
    to: string,
    { name, email }: GitAuthor,
    signal: AbortSignal,
  ): Promise<void> {
    const gitDir = join(to, '.git');
    const here = [`--git-dir=${gitDir}`, `--work-tree=${to}`];
    const run = (...args: string[]) => this.#git.run([...here, ...args], { signal, protocols: ['file'] });
    const format = `--object-format=${commit.length === 64 ? 'sha256' : 'sha1'}`;
    await this.#git.run(['init', '--quiet', '--template=', format, `--initial-branch=${branch}`, to], { signal });
    const fetched = `+${reference}:refs/suzumio/base`;
    const how = ['--quiet', '--no-tags', '--no-write-fetch-head', '--update-shallow', ...depthOf(depth)];
    await run('fetch', ...how, mirror, fetched);
    // A clone that was not recorded may have left files in ignored directories.
    await run('checkout', '--quiet', '--force', '--no-track', '-B', branch, commit);
    await run('config', 'user.name', name);
    await run('config', 'user.email', email);
    if (!source.startsWith('/')) await run('config', 'remote.origin.url', source);
    // What Suzumio keeps in a workspace is no part of the repository.
    await mkdir(join(gitDir, 'info'), { recursive: true });
    await writeFile(join(gitDir, 'info', 'exclude'), '/.suzumio/\n');
  }
}
