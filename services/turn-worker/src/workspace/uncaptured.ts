import { type AttemptStats, maxLeftOutNameLength, maxLeftOutNames } from '@suzumio/protocol/attempts';
import { beginningOf } from '@suzumio/protocol/cut-text';
import { maxWorkspacePathLength } from '@suzumio/protocol/workspace-manifest';
import { countFiles } from '../files/count-files.js';
import type { OpenDirectory } from '../files/open-directory.js';
import type { KnownEntry } from './known-tree.js';
import { type OwnDirectory, seenIn } from './own-directory.js';

/** Where files that are not captured are no longer counted: a worker lets no more be there. */
const mostIgnoredFiles = 500_000;

/** What a capture lacks: what no snapshot can hold, and the files of ignored directories. */
export class Uncaptured {
  #leftOut: AttemptStats['leftOut'];
  #ignoredFiles = 0;

  /** @param check called while files are counted; throws to cancel */
  constructor(
    private readonly own: OwnDirectory | undefined,
    private readonly check: () => void,
  ) {}

  get leftOut(): AttemptStats['leftOut'] {
    return this.#leftOut;
  }

  get ignoredFiles(): number {
    return Math.max(0, this.#ignoredFiles);
  }

  leaveOut(path: string): void {
    this.#leftOut ??= { count: 0, names: [] };
    this.#leftOut.count += 1;
    if (this.#leftOut.names.length >= maxLeftOutNames) return;
    this.#leftOut.names.push(beginningOf(seenIn(this.own, path), maxLeftOutNameLength));
  }

  /** Counts the files of an ignored directory. */
  addIgnored(parent: OpenDirectory, name: string, path: string): void {
    this.#ignoredFiles += countFiles(parent, name, {
      atMost: mostIgnoredFiles - this.#ignoredFiles,
      maxDepth: maxWorkspacePathLength - path.length,
      check: this.check,
    });
  }

  /** Takes from that count what was captured of an ignored directory. */
  subtract(captured: KnownEntry): void {
    this.#ignoredFiles -= filesOf(captured);
  }
}

/** How many files and links are in an entry. */
function filesOf(entry: KnownEntry): number {
  if (entry.kind !== 'directory') return 1;
  return [...entry.entries.values()].reduce((sum, inner) => sum + filesOf(inner), 0);
}
