import { LRUCache } from 'lru-cache';
import { type KnownTree, memoryOf } from './known-tree.js';
import type { WorkspacePlace } from './thread-messages.js';
import { readTree, writeTree } from './tree-file.js';

type Place = Pick<WorkspacePlace, 'treeFile' | 'boot'>;

/** The known content of workspaces: of those used last in memory, of others in files. */
export class KnownTrees {
  readonly #kept: LRUCache<string, { tree: KnownTree; boot: string; isWritten: boolean }>;

  /**
   * @param keptBytes how much memory trees may take, in bytes
   * @param maxFileBytes how long a file may be that is read
   */
  constructor(
    keptBytes: number,
    private readonly maxFileBytes?: number,
  ) {
    this.#kept = new LRUCache({
      maxSize: Math.max(1, keptBytes),
      sizeCalculation: ({ tree }) => memoryOf(tree.root),
      dispose: ({ tree, boot, isWritten }, treeFile, reason) => {
        if (reason === 'evict' && !isWritten) this.#write(treeFile, boot, tree);
      },
    });
  }

  /** @throws JobTooLong where a file is too long to be read here */
  get(place: Place): KnownTree | undefined {
    const kept = this.#kept.get(place.treeFile);
    if (kept) return kept.tree;
    const tree = readTree(place.treeFile, place.boot, this.maxFileBytes);
    if (tree) this.#keep(place, tree, true);
    return tree;
  }

  /** Remembers the content. */
  set(place: Place, tree: KnownTree): void {
    this.#keep(place, tree, false);
  }

  /** Leaves the content to the file alone: another thread goes on with it. */
  handOver({ treeFile }: Place): void {
    const kept = this.#kept.get(treeFile);
    if (kept && !kept.isWritten) this.#write(treeFile, kept.boot, kept.tree);
    this.#kept.delete(treeFile);
  }

  /**
   * Remembers the content, and stores it unless the file has it already.
   *
   * @returns whether the file has it
   */
  record(place: Place, tree: KnownTree): boolean {
    const kept = this.#kept.get(place.treeFile);
    if (kept?.isWritten && kept.tree.root === tree.root && kept.tree.snapshot === tree.snapshot) return true;
    const isWritten = this.#write(place.treeFile, place.boot, tree);
    this.#keep(place, tree, isWritten);
    return isWritten;
  }

  #keep({ treeFile, boot }: Place, tree: KnownTree, isWritten: boolean): void {
    this.#kept.set(treeFile, { tree, boot, isWritten });
    // A tree that alone takes more than all may is not kept.
    if (!isWritten && !this.#kept.has(treeFile)) this.#write(treeFile, boot, tree);
  }

  #write(treeFile: string, boot: string, tree: KnownTree): boolean {
    try {
      writeTree(treeFile, boot, tree);
      return true;
    } catch {
      // The project may be deleted, or the disk full. Then files are read once more.
      return false;
    }
  }
}
