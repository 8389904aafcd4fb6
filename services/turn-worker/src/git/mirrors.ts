import { createHash } from 'node:crypto';
import { mkdir, readdir, rm, stat, utimes, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import type { CloneRequest } from '@suzumio/protocol/repository';
import { fetchFailure, GitFailed } from '@suzumio/runtime/repository/git-failed';
import { RepositoryProblem } from '@suzumio/runtime/repository/repository-problem';
import { requirePlain } from '@suzumio/runtime/repository/require-plain';
import { HeldDirectory } from '../files/hold-directory.js';
import { errnoOf } from '../files/errno.js';
import { removeTree } from '../files/remove-tree.js';
import { treeSize } from '../files/tree-size.js';
import { AttemptFailure } from '../engine/attempt-failure.js';
import { type Git, heldFd } from './git.js';
import { inTime, type InTimeOptions, unlessAborted } from './in-time.js';

export interface MirrorsOptions {
  git: Git;
  directory: string;
  /** The most bytes of one mirror; all together may have four times as many. */
  maxBytes: number;
  /** The longest time that others are waited for that use the same mirror, in milliseconds. */
  waitMs: number;
}

export interface FetchOptions {
  signal: AbortSignal;
  /** Throws unless a repository of this host may be fetched, by its path with links resolved, once it is open. */
  check: (real: string) => void;
  /** What is done to the repository, for the sentence that it took too long. */
  what: 'cloned' | 'fetched';
  /** The longest time for fetching and `use`, in milliseconds, by whether there is a mirror to fetch into. */
  mostMs: (hasMirror: boolean) => number;
}

/** What is fetched, and how much of it. */
type CloneSource = Omit<CloneRequest, 'branch'>;

/** A commit in a mirror, by the reference that was fetched. */
export interface Fetched {
  mirror: string;
  reference: string;
  commit: string;
}

const allTimes = 4;
const maxEntries = 10_000;

/** Bytes of the ids of all commits at which the histories in a mirror are cut off, in Git's file of them. */
export const maxShallowBytes = 1024 * 1024;

/**
 * Repositories as they were last fetched, bare, one for each address and depth. They are in the worker's own directory,
 * which is locked to one process, and no agent sees them. A mirror that a killed worker left unfinished is fetched anew,
 * as is one in which a fetch failed, unless that says nothing against what was there before.
 */
export class Mirrors {
  /** Settled once the mirror is free for the next, by its name. */
  readonly #last = new Map<string, Promise<void>>();

  constructor(private readonly options: MirrorsOptions) {}

  /**
   * Fetches what is to be cloned, and keeps others from that mirror while `use` runs. A repository of this host is opened
   * first, and `check` is given its path with links resolved: what is fetched is what was checked.
   *
   * @throws AttemptFailure that says what is wrong with the repository, also where it does not answer in time; what `signal`
   *   was aborted with; what `check` and `use` throw
   */
  async fetch<Result>(
    clone: CloneSource,
    { signal, check, what, mostMs }: FetchOptions,
    use: (fetched: Fetched, signal: AbortSignal) => Promise<Result>,
  ): Promise<Result> {
    const held = isPath(clone.git) ? await hold(clone.git) : undefined;
    try {
      if (held) check(held.real);
      const name = `${hashOf(`${held?.real ?? clone.git}\n${String(clone.depth ?? '')}`)}.git`;
      const { waitMs } = this.options;
      const late = `${clone.git} could not be ${what}: others on this worker have been fetching it for ${waitMs} ms.`;
      return await this.#inTurn(name, { mostMs: waitMs, signal, late }, async () => {
        const hasMirror = await this.#has(name);
        const most = mostMs(hasMirror);
        const tooLong = `${clone.git} could not be ${what} within ${most} ms.`;
        return inTime({ mostMs: most, signal, late: tooLong }, async (either) =>
          use(await this.#bringUpToDate({ name, hasMirror }, clone, held, either), either),
        );
      });
    } catch (error) {
      const problem = error instanceof GitFailed ? fetchFailure(error, clone, held?.at(heldFd)) : error;
      if (!(problem instanceof RepositoryProblem)) throw problem;
      throw new AttemptFailure(problem.code, problem.message);
    } finally {
      await held?.close();
    }
  }

  /** Runs work once all who came before are done, or have left. */
  async #inTurn<Result>(name: string, waiting: InTimeOptions, work: () => Promise<Result>): Promise<Result> {
    const before = this.#last.get(name);
    const own = Promise.withResolvers<undefined>();
    // Who leaves sooner leaves those before to whoever comes next.
    const free = Promise.all([before, own.promise]).then(() => {
      if (this.#last.get(name) === free) this.#last.delete(name);
    });
    this.#last.set(name, free);
    try {
      if (before) await inTime(waiting, (either) => unlessAborted(either, before));
      return await work();
    } finally {
      own.resolve(undefined);
    }
  }

  /** Whether there is a mirror to fetch into. One that is unfinished, or has grown too large, is removed. */
  async #has(name: string): Promise<boolean> {
    const { directory, maxBytes } = this.options;
    const mirror = join(directory, name);
    if (!(await isThere(mirror))) return false;
    const isUsable =
      !(await isThere(unfinishedOf(mirror))) &&
      (await treeSize([mirror], { maxBytes, maxEntries })).beyond === undefined &&
      (await shallowBytes(mirror)) <= maxShallowBytes;
    if (!isUsable) await removeTree(mirror);
    return isUsable;
  }

  async #bringUpToDate(
    { name, hasMirror }: { name: string; hasMirror: boolean },
    clone: CloneSource,
    held: HeldDirectory | undefined,
    signal: AbortSignal,
  ): Promise<Fetched> {
    signal.throwIfAborted();
    const { git, directory } = this.options;
    const mirror = join(directory, name);
    const unfinished = unfinishedOf(mirror);
    await mkdir(directory, { recursive: true, mode: 0o700 });
    await writeFile(unfinished, '');
    const reference = `refs/suzumio/${hashOf(clone.ref ?? '')}`;
    let commit: string;
    try {
      if (held) await requirePlain(held.at(), clone.git);
      const format = hasMirror ? [] : [`--object-format=${await this.#formatOf(clone, held, signal)}`];
      await git.run(['init', '--quiet', '--bare', '--template=', ...format, mirror], { signal });
      commit = await this.#fetchInto({ mirror, reference }, clone, held, signal);
    } catch (error) {
      if (hasMirror && error instanceof GitFailed && error.isOtherFormat) {
        // Another repository has replaced it.
        await removeTree(mirror);
        return this.#bringUpToDate({ name, hasMirror: false }, clone, held, signal);
      }
      // Of a repository of this host it is not known then what was fetched.
      const isSound = hasMirror && !held && (wasStopped(error, signal) || isOfOtherSide(error));
      // Where that fails, it is fetched anew.
      if (isSound)
        await removeLeft(mirror)
          .then(() => rm(unfinished))
          .catch(() => undefined);
      throw error;
    }
    await rm(unfinished);
    await utimes(mirror, new Date(), new Date());
    await this.#removeOldest(name);
    return { mirror, reference, commit };
  }

  /** How a repository names its objects, which a mirror of it does, too. */
  async #formatOf(
    { git: source }: CloneSource,
    held: HeldDirectory | undefined,
    signal: AbortSignal,
  ): Promise<'sha1' | 'sha256'> {
    const from = held?.at(heldFd) ?? source;
    // Of some there is no HEAD.
    for (const names of [['HEAD'], []]) {
      const how = { signal, held, ...wayTo(source, held) };
      const listed = await this.options.git.run(['ls-remote', '--quiet', from, ...names], how);
      const id = /^([0-9a-f]{40,64})\t/m.exec(listed)?.[1];
      if (id !== undefined) return id.length === 64 ? 'sha256' : 'sha1';
    }
    return 'sha1';
  }

  async #fetchInto(
    { mirror, reference }: Omit<Fetched, 'commit'>,
    { git: source, ref, depth }: CloneSource,
    held: HeldDirectory | undefined,
    signal: AbortSignal,
  ): Promise<string> {
    const { git } = this.options;
    const wanted = `+${ref ?? 'HEAD'}:${reference}`;
    await git.run(
      [
        `--git-dir=${mirror}`,
        'fetch',
        '--quiet',
        '--no-tags',
        '--no-write-fetch-head',
        // What the source is cut off at, the mirror is, too.
        '--update-shallow',
        ...depthOf(depth),
        held?.at(heldFd) ?? source,
        wanted,
      ],
      { signal, held, ...wayTo(source, held) },
    );
    // Whoever may write there may have changed it meanwhile. What was fetched is left unfinished then, and removed.
    if (held) await requirePlain(held.at(), source);
    const commit = await git.run([`--git-dir=${mirror}`, 'rev-parse', '--verify', `${reference}^{commit}`], {
      signal,
    });
    return commit.trim();
  }

  /** Removes the mirrors that were not used for longest, as long as there are too many bytes of them. */
  async #removeOldest(used: string): Promise<void> {
    const { directory, maxBytes } = this.options;
    const names = (await readdir(directory)).filter((name) => name.endsWith('.git') && name !== used);
    const mirrors = await Promise.all(
      names.map(async (name) => ({
        name,
        usedAtMs: (await stat(join(directory, name))).mtimeMs,
        ...(await treeSize([join(directory, name)], { maxBytes, maxEntries })),
      })),
    );
    let left = mirrors.reduce((sum, { bytes }) => sum + bytes, 0);
    for (const { name, bytes } of mirrors.sort((a, b) => a.usedAtMs - b.usedAtMs)) {
      if (left <= (allTimes - 1) * maxBytes) return;
      if (this.#last.has(name)) continue;
      await removeTree(join(directory, name));
      left -= bytes;
    }
  }
}

const unfinishedOf = (mirror: string) => `${mirror}.unfinished`;

const isThere = async (path: string) => (await stat(path).catch(() => undefined)) !== undefined;

/** The length of Git's file of the commits at which histories are cut off. */
export const shallowBytes = async (mirror: string): Promise<number> =>
  (await stat(join(mirror, 'shallow')).catch(() => undefined))?.size ?? 0;

const wasStopped = (error: unknown, signal: AbortSignal) => signal.aborted && error === signal.reason;

const isOfOtherSide = (error: unknown) => error instanceof GitFailed && error.isOfOtherSide;

/**
 * Removes what a fetch that was ended leaves: locks, and files that have no name yet. Git writes objects before what refers
 * to them, so that the rest is whole. None of its processes may run there any more.
 */
async function removeLeft(mirror: string): Promise<void> {
  for (const directory of [mirror, join(mirror, 'refs/suzumio'), join(mirror, 'objects/pack')]) {
    for (const name of await readdir(directory)) {
      if (/^(?:tmp|shallow)_|\.lock$/.test(name)) await rm(join(directory, name));
    }
  }
}

const wayTo = (remote: string, directory: HeldDirectory | undefined) =>
  directory ? { protocols: ['file'] } : { protocols: ['https', 'http'], remote };

const isPath = (git: string) => git.startsWith('/');

async function hold(path: string): Promise<HeldDirectory> {
  try {
    return await HeldDirectory.open(path);
  } catch (error) {
    if (errnoOf(error) === undefined) throw error;
    throw new AttemptFailure('repository-refused', `There is no repository at ${path} on the worker's host.`, {
      cause: error,
    });
  }
}

/** How much of a history is fetched. */
export function depthOf(depth: number | undefined): string[] {
  return depth === undefined ? [] : [`--depth=${depth}`];
}

function hashOf(text: string): string {
  return createHash('sha256').update(text).digest('hex').slice(0, 40);
}
