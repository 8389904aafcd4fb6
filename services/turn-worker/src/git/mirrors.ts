import { createHash } from 'node:crypto';
import { mkdir, readdir, rm, stat, utimes, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import type { CloneRequest } from '@suzumio/protocol/repository';
import { removeTree } from '../files/remove-tree.js';
import { treeSize } from '../files/tree-size.js';
import type { Git } from './git.js';
import { fetchFailure, GitFailed } from './git-failed.js';
import { requirePlain } from './require-plain.js';

export interface MirrorsOptions {
  git: Git;
  directory: string;
  /** The most bytes of one mirror; all together may have four times as many. */
  maxBytes: number;
}

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
   * Fetches what is to be cloned, and keeps others from that mirror while `use` runs.
   *
   * @throws AttemptFailure that says what is wrong with the repository; what `signal` was aborted with
   */
  async fetch<Result>(
    clone: Omit<CloneRequest, 'branch'>,
    signal: AbortSignal,
    use: (fetched: Fetched) => Promise<Result>,
  ): Promise<Result> {
    const name = `${hashOf(`${clone.git}\n${String(clone.depth ?? '')}`)}.git`;
    const before = this.#last.get(name) ?? Promise.resolve();
    const work = before.then(async () => use(await this.#bringUpToDate(name, clone, signal)));
    const settled = work.catch(() => undefined);
    this.#last.set(name, settled);
    try {
      return await work;
    } finally {
      if (this.#last.get(name) === settled) this.#last.delete(name);
    }
  }

  async #bringUpToDate(name: string, clone: Omit<CloneRequest, 'branch'>, signal: AbortSignal): Promise<Fetched> {
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
    const commit = await this.#fetchInto(mirror, reference, clone, signal);
    await rm(unfinished);
    await utimes(mirror, new Date(), new Date());
    await this.#removeOldest(name);
    return { mirror, reference, commit };
  }

  async #fetchInto(
    mirror: string,
    reference: string,
    { git: source, ref, depth }: Omit<CloneRequest, 'branch'>,
    signal: AbortSignal,
  ): Promise<string> {
    const { git } = this.options;
    const isPath = source.startsWith('/');
    if (isPath) await requirePlain(source);
    try {
      const wanted = `+${ref ?? 'HEAD'}:${reference}`;
      const protocols = isPath ? ['file'] : ['https', 'http'];
      await git.run(
        [
          `--git-dir=${mirror}`,
          'fetch',
          '--quiet',
          '--no-tags',
          '--no-write-fetch-head',
          ...depthOf(depth),
          source,
          wanted,
        ],
        { signal, protocols },
      );
      // Whoever may write there may have changed it meanwhile. What was fetched is left unfinished then, and removed.
      if (isPath) await requirePlain(source);
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

/** How much of a history is fetched. */
export function depthOf(depth: number | undefined): string[] {
  return depth === undefined ? [] : [`--depth=${depth}`];
}

function hashOf(text: string): string {
  return createHash('sha256').update(text).digest('hex').slice(0, 40);
}
