import { mkdir, mkdtemp, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import type { GitAuthor } from '@suzumio/protocol/git-author';
import { type CloneRequest, lookMs, type LookRequest } from '@suzumio/protocol/repository';
import { AttemptFailure } from '../engine/attempt-failure.js';
import type { WorkspaceBounds } from '../workspace/workspace-bounds.js';
import { Git } from './git.js';
import { fetchFailure, GitFailed } from './git-failed.js';
import { removeTree } from '../files/remove-tree.js';
import { inspectTree } from './inspect-tree.js';
import { type Looked, packNews } from './pack-news.js';
import { depthOf, type Fetched, Mirrors } from './mirrors.js';

export interface RepositoriesOptions {
  /** The worker's own directory for Git. */
  directory: string;
  /** Of Git's own files, and of workspaces that are cloned without bounds of their own. */
  bounds: WorkspaceBounds;
  /** The longest time that fetching and cloning may take, in milliseconds. */
  cloneMs: number;
  /** The longest time that looking for what is new may take, in milliseconds. @default {@link lookMs} */
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
    const { directory, bounds } = options;
    this.#git = new Git({ directory, maxFileBytes: bounds.maxFileBytes });
    this.#mirrors = new Mirrors({ git: this.#git, directory: join(directory, 'mirrors'), maxBytes: bounds.maxBytes });
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
    return this.#within(request, { what: 'cloned', mostMs: this.options.cloneMs }, signal, (either) =>
      this.#mirrors.fetch(request, { signal: either, check }, async (fetched) => {
        const within = { bounds, ignored, name: request.git, signal: either };
        const tracked = await inspectTree(this.#git, fetched, within);
        await this.#cloneFrom(fetched, request, to, author, either);
        return { commit: fetched.commit, tracked };
      }),
    );
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
    const { directory, lookMs: mostMs = lookMs } = this.options;
    const news = join(directory, 'news');
    // What a killed process has left.
    this.#cleared ??= removeTree(news);
    await this.#cleared;
    await mkdir(news, { recursive: true, mode: 0o700 });
    const own = await mkdtemp(`${news}/`);
    try {
      const looked = await this.#within(request, { what: 'fetched', mostMs }, signal, (either) =>
        this.#mirrors.fetch(request, { signal: either, check }, async (fetched) => {
          // What was there before was looked at before.
          if (fetched.commit !== request.known.at(-1)) {
            await inspectTree(this.#git, fetched, { bounds, ignored, name: request.git, signal: either });
          }
          return packNews(this.#git, fetched, request, { directory: own, signal: either });
        }),
      );
      return await use(looked);
    } finally {
      await removeTree(own);
    }
  }

  /** Says what is wrong with a repository, also where it does not answer in time. */
  async #within<Result>(
    { git, ref }: Pick<CloneRequest, 'git' | 'ref'>,
    { what, mostMs }: { what: string; mostMs: number },
    signal: AbortSignal,
    work: (signal: AbortSignal) => Promise<Result>,
  ): Promise<Result> {
    const tooLong = AbortSignal.timeout(mostMs);
    try {
      return await work(AbortSignal.any([signal, tooLong]));
    } catch (error) {
      if (error instanceof GitFailed) throw fetchFailure(error, git, ref);
      if (tooLong.aborted && !signal.aborted) {
        throw new AttemptFailure('repository-unavailable', `${git} could not be ${what} within ${mostMs} ms.`);
      }
      throw error;
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
    await this.#git.run(['init', '--quiet', '--template=', `--initial-branch=${branch}`, to], { signal });
    const fetched = `+${reference}:refs/suzumio/base`;
    await run('fetch', '--quiet', '--no-tags', '--no-write-fetch-head', ...depthOf(depth), mirror, fetched);
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
