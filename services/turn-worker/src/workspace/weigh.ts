import { inBlocks } from '@suzumio/protocol/disk-blocks';
import { isLeftover, ownArtifacts } from '@suzumio/protocol/own-artifacts';
import { maxWorkspacePathLength } from '@suzumio/protocol/workspace-manifest';
import { errnoOf } from '../files/errno.js';
import { OpenDirectory } from '../files/open-directory.js';
import { type OwnDirectory, seenIn } from './own-directory.js';

export interface WeighOptions {
  /** Whether a directory at this path is left out. */
  isIgnored: (path: string) => boolean;
  /** Is weighed with it. */
  own?: OwnDirectory | undefined;
  /** Called between entries; throws to cancel. */
  check: () => void;
}

interface Weight {
  path: string;
  bytes: number;
  entries: number;
}

/** Where counting stops: the largest workspace that a turn may have for a while. */
const mostEntries = 500_000;
/** How deep directories are weighed apart. */
const shownDepth = 2;
const mostShown = 5;

/** What a directory holds: all of it, and a sentence for whoever is to make it less. */
export interface Weighed {
  bytes: number;
  entries: number;
  told: string;
}

/** Weighs a directory without reading files. Like a capture, it goes from descriptor to descriptor, and follows no link. */
export function weigh(root: string, options: WeighOptions): Weighed {
  const weighing = new Weighing(options);
  const directory = OpenDirectory.open(root);
  try {
    weighing.add(directory, '', []);
    if (options.own) weighing.addOwn(options.own);
  } finally {
    directory.close();
  }
  return { ...weighing.all, told: weighing.told() };
}

class Weighing {
  readonly all = { bytes: 0, entries: 0 };
  readonly #directories: Weight[] = [];

  constructor(private readonly options: WeighOptions) {}

  /** @param within the directories that this one counts towards */
  add(directory: OpenDirectory, prefix: string, within: readonly Weight[]): void {
    for (const name of directory.list(mostEntries - this.all.entries).names) {
      this.options.check();
      if (this.all.entries >= mostEntries) return;
      const stat = directory.look(name);
      const path = `${prefix}${name}`;
      if (!stat || isLeftover(path) || (stat.isDirectory() && this.options.isIgnored(path))) continue;
      for (const weight of [this.all, ...within]) {
        weight.entries += 1;
        if (stat.isFile() || stat.isDirectory()) weight.bytes += inBlocks(stat.isFile() ? stat.size : 0);
      }
      // No deeper than a capture goes: each level is an open descriptor.
      if (stat.isDirectory() && path.length <= maxWorkspacePathLength)
        this.#weigh(() => directory.open(name), path, within);
    }
  }

  addOwn({ directory }: OwnDirectory): void {
    this.#weigh(() => OpenDirectory.open(directory), ownArtifacts, []);
  }

  told(): string {
    const { bytes, entries } = this.all;
    const share = (weight: Weight) => Math.max(weight.bytes / (bytes + 1), weight.entries / (entries + 1));
    const largest = this.#directories.sort((a, b) => share(b) - share(a)).slice(0, mostShown);
    const shown = largest.map(
      (weight) => `${JSON.stringify(seenIn(this.options.own, weight.path))} (${amount(weight)})`,
    );
    const most = entries >= mostEntries ? 'at least ' : '';
    return `It has ${most}${amount(this.all)}${shown.length === 0 ? '' : `; the largest directories are ${shown.join(', ')}`}.`;
  }

  #weigh(open: () => OpenDirectory, path: string, within: readonly Weight[]): void {
    const own: Weight = { path, bytes: 0, entries: 0 };
    const isShown = within.length < shownDepth;
    if (isShown) this.#directories.push(own);
    let directory: OpenDirectory;
    try {
      directory = open();
    } catch (error) {
      // It was moved, or cannot be looked into.
      if (errnoOf(error) === undefined) throw error;
      return;
    }
    try {
      this.add(directory, `${path}/`, isShown ? [...within, own] : within);
    } finally {
      directory.close();
    }
  }
}

const amount = ({ bytes, entries }: Omit<Weight, 'path'>) => `${String(bytes)} bytes in ${String(entries)} entries`;
