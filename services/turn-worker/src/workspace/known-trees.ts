import { type KnownTree, readTree, writeTree } from './known-tree.js';
import type { WorkspacePlace } from './thread-messages.js';

/** The most trees that a thread keeps in memory. */
const mostKept = 16;

type Place = Pick<WorkspacePlace, 'treeFile' | 'boot'>;

/** The known content of workspaces: of those used last in memory, of others in files. */
export class KnownTrees {
  /** Least recently used first. */
  readonly #kept = new Map<string, { tree: KnownTree; boot: string; isWritten: boolean }>();

  get(place: Place): KnownTree | undefined {
    const kept = this.#kept.get(place.treeFile);
    if (kept) {
      this.#keep(place, kept.tree, kept.isWritten);
      return kept.tree;
    }
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
    this.#kept.delete(treeFile);
    this.#kept.set(treeFile, { tree, boot, isWritten });
    const [oldest, forgotten] = this.#kept.entries().next().value ?? [];
    if (this.#kept.size <= mostKept || oldest === undefined || !forgotten) return;
    this.#kept.delete(oldest);
    if (!forgotten.isWritten) this.#write(oldest, forgotten.boot, forgotten.tree);
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
