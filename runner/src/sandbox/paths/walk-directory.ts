import type { Stats } from 'node:fs';
import type { Directory } from './directory.js';
import { hasCode } from './refusal.js';
import { keptDirectory } from '@suzumio/protocol/kept-path';

/** Something below a directory. */
export interface Found {
  /** Relative to where the walk began. */
  readonly path: string;
  readonly facts: Stats;
  /** Where a link leads. */
  readonly target?: string;
  /** That a directory was not entered. */
  readonly isClosed?: boolean;
}

export interface Walked {
  readonly found: readonly Found[];
  /** That there is more than was looked for. */
  readonly hasMore: boolean;
}

export interface WalkOptions {
  readonly recursive: boolean;
  readonly skip?: number;
  readonly most: number;
  readonly isWanted?: (path: string) => boolean;
  readonly signal: AbortSignal;
}

/** More names of one directory than these are not read: the rest is not even sorted in. */
const maxNames = 20_000;
const maxDepth = 64;
const notEntered = new Set(['.git', keptDirectory]);

/** Goes through a directory in the order of names, never through a link. */
export async function walkDirectory(directory: Directory, options: WalkOptions): Promise<Walked> {
  const walk = new DirectoryWalk(options);
  await walk.go(directory, '', 0);
  return { found: walk.found, hasMore: walk.hasMore };
}

class DirectoryWalk {
  readonly found: Found[] = [];
  #isFull = false;
  #isCut = false;
  #skipped = 0;

  constructor(private readonly options: WalkOptions) {}

  get hasMore(): boolean {
    return this.#isFull || this.#isCut;
  }

  async go(directory: Directory, prefix: string, depth: number): Promise<void> {
    const { signal, most, skip = 0, isWanted = () => true, recursive } = this.options;
    for (const name of await this.#names(directory)) {
      signal.throwIfAborted();
      const path = prefix + name;
      if (!isWanted(path)) continue;
      if (this.#skipped < skip) {
        this.#skipped += 1;
        continue;
      }
      if (this.found.length === most) {
        this.#isFull = true;
        return;
      }
      const facts = await directory.facts(name);
      if (!facts) continue;
      if (facts.isSymbolicLink()) this.found.push({ path, facts, target: (await directory.linkTarget(name)) ?? '?' });
      else if (!recursive || !facts.isDirectory()) this.found.push({ path, facts });
      else await this.#enter(directory, name, path, facts, depth);
      if (this.#isFull) return;
    }
  }

  async #enter(directory: Directory, name: string, path: string, facts: Stats, depth: number): Promise<void> {
    const isClosed = notEntered.has(name) || depth === maxDepth;
    this.found.push({ path, facts, isClosed });
    if (isClosed) return;
    try {
      const inner = await directory.enter(name);
      try {
        await this.go(inner, `${path}/`, depth + 1);
      } finally {
        await inner.close();
      }
    } catch (error) {
      // It was replaced or removed, or is another user's: the rest is listed all the same.
      if (!hasCode(error, 'ENOENT', 'ENOTDIR', 'ELOOP', 'EACCES')) throw error;
    }
  }

  async #names(directory: Directory): Promise<string[]> {
    const names: string[] = [];
    for await (const { name } of await directory.entries()) {
      if (names.length === maxNames) {
        this.#isCut = true;
        break;
      }
      names.push(name);
    }
    return names.sort();
  }
}
