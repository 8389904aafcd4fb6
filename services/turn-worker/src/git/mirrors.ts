import { createHash } from 'node:crypto';
import { mkdir, readdir, rm, stat, utimes, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import type { CloneRequest } from '@suzumio/protocol/repository';
import { HeldDirectory } from '../files/hold-directory.js';
import { errnoOf } from '../files/errno.js';
import { removeTree } from '../files/remove-tree.js';
import { treeSize } from '../files/tree-size.js';
import { AttemptFailure } from '../engine/attempt-failure.js';
import { type Git, heldFd } from './git.js';
import { fetchFailure, GitFailed } from './git-failed.js';
import { requirePlain } from './require-plain.js';

export interface MirrorsOptions {
  git: Git;
  directory: string;
  /** The most bytes of one mirror; all together may have four times as many. */
  maxBytes: number;
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

/**
 * Repositories as they were last fetched, bare, one for each address and depth. They are in the worker's own directory,
 * which is locked to one process, and no agent sees them. A mirror that a killed process left unfinished is fetched anew.
 */
export class Mirrors {
  readonly #last = new Map<string, Promise<unknown>>();

  constructor(private readonly options: MirrorsOptions) {}

  /**
   * Fetches what is to be cloned, and keeps others from that mirror while `use` runs. A repository of this host is opened
   * first, and `check` is given its path with links resolved: what is fetched is what was checked.
   *
   * @throws AttemptFailure that says what is wrong with the repository; what `signal` was aborted with; what `check` throws
   */
  async fetch<Result>(
    clone: CloneSource,
    { signal, check }: { signal: AbortSignal; check: (real: string) => void },
    use: (fetched: Fetched) => Promise<Result>,
  ): Promise<Result> {
    const held = isPath(clone.git) ? await hold(clone.git) : undefined;
    try {
      if (held) check(held.real);
      const name = `${hashOf(`${held?.real ?? clone.git}\n${String(clone.depth ?? '')}`)}.git`;
      return await this.#inTurn(name, async () => use(await this.#bringUpToDate(name, clone, held, signal)));
    } finally {
      await held?.close();
    }
  }

  async #inTurn<Result>(name: string, work: () => Promise<Result>): Promise<Result> {
    const done = (this.#last.get(name) ?? Promise.resolve()).then(work);
    const settled = done.catch(() => undefined);
    this.#last.set(name, settled);
    try {
      return await done;
    } finally {
      if (this.#last.get(name) === settled) this.#last.delete(name);
    }
  }

  async #bringUpToDate(
    name: string,
    clone: CloneSource,
    held: HeldDirectory | undefined,
    signal: AbortSignal,
  ): Promise<Fetched> {
    signal.throwIfAborted();
    const { git, directory, maxBytes } = this.options;
    const mirror = join(directory, name);
    const unfinished = `${mirror}.unfinished`;
    const isUnfinished = (await stat(unfinished).catch(() => undefined)) !== undefined;
    const tooLarge = (await treeSize([mirror], { maxBytes, maxEntries })).beyond !== undefined;
    if (isUnfinished || tooLarge) await removeTree(mirror);
    await mkdir(directory, { recursive: true, mode: 0o700 });
    await writeFile(unfinished, '');
    await git.run(['init', '--quiet', '--bare', '--template=', mirror], { signal });
    const reference = `refs/suzumio/${hashOf(clone.ref ?? '')}`;
    const commit = await this.#fetchInto({ mirror, reference }, clone, held, signal);
    await rm(unfinished);
    await utimes(mirror, new Date(), new Date());
    await this.#removeOldest(name);
    return { mirror, reference, commit };
  }

  async #fetchInto(
    { mirror, reference }: Omit<Fetched, 'commit'>,
    { git: source, ref, depth }: CloneSource,
    held: HeldDirectory | undefined,
    signal: AbortSignal,
  ): Promise<string> {
    const { git } = this.options;
    if (held) await requirePlain(held.at(), source);
    try {
      const wanted = `+${ref ?? 'HEAD'}:${reference}`;
      await git.run(
        [
          `--git-dir=${mirror}`,
          'fetch',
          '--quiet',
          '--no-tags',
          '--no-write-fetch-head',
          ...depthOf(depth),
          held?.at(heldFd) ?? source,
          wanted,
        ],
        { signal, held, protocols: held ? ['file'] : ['https', 'http'] },
      );
      // Whoever may write there may have changed it meanwhile. What was fetched is left unfinished then, and removed.
      if (held) await requirePlain(held.at(), source);
      const commit = await git.run([`--git-dir=${mirror}`, 'rev-parse', '--verify', `${reference}^{commit}`], {
        signal,
      });
      return commit.trim();
    } catch (error) {
      if (error instanceof GitFailed) throw fetchFailure(error, source, ref);
      throw error;
    }
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
