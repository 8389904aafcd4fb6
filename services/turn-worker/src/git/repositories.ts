import { mkdir, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import type { GitAuthor } from '@suzumio/protocol/git-author';
import type { CloneRequest } from '@suzumio/protocol/repository';
import { AttemptFailure } from '../engine/attempt-failure.js';
import type { WorkspaceBounds } from '../workspace/workspace-bounds.js';
import { Git } from './git.js';
import { fetchFailure, GitFailed } from './git-failed.js';
import { inspectTree } from './inspect-tree.js';
import { depthOf, type Fetched, Mirrors } from './mirrors.js';

export interface RepositoriesOptions {
  /** The worker's own directory for Git. */
  directory: string;
  /** Of Git's own files, and of workspaces that are cloned without bounds of their own. */
  bounds: WorkspaceBounds;
  /** The longest time that fetching and cloning may take, in milliseconds. */
  cloneMs: number;
}

export interface CloneOptions {
  /** Who commits in the clone, whatever runs Git there. */
  author: GitAuthor;
  /** Of the workspace. */
  bounds?: WorkspaceBounds;
  /** Throws unless a repository of this host may be cloned, by its path with links resolved, once it is open. */
  check: (real: string) => void;
  /** Directories that are not captured: see `ignoredRoots`. */
  ignored?: readonly string[];
  signal: AbortSignal;
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
    const { cloneMs } = this.options;
    const tooLong = AbortSignal.timeout(cloneMs);
    const either = AbortSignal.any([signal, tooLong]);
    try {
      return await this.#mirrors.fetch(request, { signal: either, check }, async (fetched) => {
        const within = { bounds, ignored, name: request.git, signal: either };
        const tracked = await inspectTree(this.#git, fetched, within);
        await this.#cloneFrom(fetched, request, to, author, either);
        return { commit: fetched.commit, tracked };
      });
    } catch (error) {
      if (error instanceof GitFailed) throw fetchFailure(error, request.git, request.ref);
      if (tooLong.aborted && !signal.aborted) {
        const message = `${request.git} could not be cloned within ${cloneMs} ms.`;
        throw new AttemptFailure('repository-unavailable', message);
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
