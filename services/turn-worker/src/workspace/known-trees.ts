import { LRUCache } from 'lru-cache';
import { type KnownTree, memoryOf, readTree, writeTree } from './known-tree.js';
import type { WorkspacePlace } from './thread-messages.js';

/** The most that the trees of a thread may take of its memory, in bytes: some 150,000 files. */
const mostBytes = 64 * 1024 * 1024;

type Place = Pick<WorkspacePlace, 'treeFile' | 'boot'>;

/** The known content of workspaces: of those used last in memory, of others in files. */
export class KnownTrees {
  readonly #kept: LRUCache<string, { tree: KnownTree; boot: string; isWritten: boolean }>;

  /** @param maxSize how much memory trees may take, in bytes */
  constructor(maxSize = mostBytes) {
    this.#kept = new LRUCache({
      maxSize,
      sizeCalculation: ({ tree }) => memoryOf(tree.root),
      dispose: ({ tree, boot, isWritten }, treeFile, reason) => {
        if (reason === 'evict' && !isWritten) this.#write(treeFile, boot, tree);
      },
    });
  }

  get(place: Place): KnownTree | undefined {
    const kept = this.#kept.get(place.treeFile);
    if (kept) return kept.tree;
    const tree = readTree(place.treeFile, place.boot);
    if (tree) this.#keep(place, tree, true);
    return tree;
  }

  /** Remembers the content. */
  set(place: Place, tree: KnownTree): void {
    this.#keep(place, tree, false);
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
