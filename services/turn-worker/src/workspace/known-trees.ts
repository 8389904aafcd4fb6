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

  set(place: Place, tree: KnownTree): void {
    this.#keep(place, tree, false);
  }

  /** Records the known content of a workspace, if it equals this snapshot. */
  save(place: Place, snapshot: string | null): boolean {
    const tree = this.get(place);
    if (tree?.snapshot !== snapshot) return false;
    const kept = this.#kept.get(place.treeFile);
    if (kept && !kept.isWritten) {
      writeTree(place.treeFile, place.boot, tree);
      kept.isWritten = true;
    }
    return true;
  }

  #keep({ treeFile, boot }: Place, tree: KnownTree, isWritten: boolean): void {
    this.#kept.delete(treeFile);
    this.#kept.set(treeFile, { tree, boot, isWritten });
    const [oldest, forgotten] = this.#kept.entries().next().value ?? [];
    if (this.#kept.size <= mostKept || oldest === undefined || !forgotten) return;
    this.#kept.delete(oldest);
    try {
      if (!forgotten.isWritten) writeTree(oldest, forgotten.boot, forgotten.tree);
    } catch {
      // Its project may be deleted. Otherwise its files are read once more.
    }
  }
}
