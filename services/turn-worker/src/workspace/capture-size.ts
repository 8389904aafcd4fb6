import type { Stats } from 'node:fs';
import { inBlocks } from '@suzumio/protocol/disk-blocks';
import { maxWorkspaceLinkBytes } from '@suzumio/protocol/workspace-manifest';
import { type KnownDirectory, memoryOf, memoryOfEntry, partsOf } from './known-tree.js';
import type { WorkspaceBounds } from './workspace-bounds.js';
import { JobTooLong, WorkspaceTooLarge } from './workspace-errors.js';

/** Before more than this is read and stored, everything is counted: what is too large is not stored in vain. */
const readUncounted = 64 * 1024 * 1024;

/** How large a capture has become. What goes beyond its bounds throws WorkspaceTooLarge. */
export class CaptureSize {
  #entries = 0;
  #bytes = 0;
  #linkBytes = 0;
  #readBytes = 0;
  #heldBytes = 0;

  /**
   * @param maxHeldBytes how much memory its tree may take; what goes beyond throws JobTooLong
   * @param weighAll measures the whole workspace without reading its files
   */
  constructor(
    private readonly bounds: WorkspaceBounds,
    private readonly maxHeldBytes: number,
    private readonly weighAll: () => { entries: number; bytes: number },
  ) {}

  /** Counts the memory that an entry takes. */
  hold(name: string): void {
    this.#hold(memoryOfEntry(name));
  }

  /** Counts an entry, before it is read. */
  add(stat: Stats): void {
    if (!stat.isFile() && !stat.isDirectory() && !stat.isSymbolicLink()) return;
    this.#entries += 1;
    if (!stat.isSymbolicLink()) this.#bytes += inBlocks(stat.isFile() ? stat.size : 0);
    this.#require({ entries: this.#entries, bytes: this.#bytes });
  }

  /** Counts a directory that is taken as it was known, with all that is in it. */
  addKnown(directory: KnownDirectory): void {
    for (const part of partsOf(directory)) {
      this.#entries += 1;
      this.#bytes += inBlocks(part.kind === 'file' ? part.sizeBytes : 0);
    }
    this.#hold(memoryOf(directory));
    this.#require({ entries: this.#entries, bytes: this.#bytes });
  }

  /** Counts what a link says. */
  addTarget(target: Buffer): void {
    this.#linkBytes += target.length;
    this.#hold(2 * target.length);
    if (this.#linkBytes > maxWorkspaceLinkBytes) {
      throw new WorkspaceTooLarge(`The workspace has links with more than ${maxWorkspaceLinkBytes} bytes together.`);
    }
  }

  /** Counts bytes that are about to be read. */
  addRead(bytes: number): void {
    const wasLittle = this.#readBytes <= readUncounted;
    this.#readBytes += bytes;
    if (wasLittle && this.#readBytes > readUncounted) this.#require(this.weighAll());
  }

  #hold(bytes: number): void {
    this.#heldBytes += bytes;
    if (this.#heldBytes > this.maxHeldBytes) throw new JobTooLong();
  }

  #require({ entries, bytes }: { entries: number; bytes: number }): void {
    const { maxBytes, maxEntries } = this.bounds;
    if (entries > maxEntries) {
      throw new WorkspaceTooLarge(
        `The workspace has more than ${maxEntries} files and directories (workspace.maxFiles).`,
      );
    }
    if (bytes > maxBytes)
      throw new WorkspaceTooLarge(`The workspace has more than ${maxBytes} bytes (workspace.maxBytes).`);
  }
}
