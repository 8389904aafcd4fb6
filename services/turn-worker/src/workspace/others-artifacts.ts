import { createHash } from 'node:crypto';
import { writeFile } from 'node:fs/promises';
import { artifactTree, type SeenBy } from './artifact-tree.js';
import { download, type FetchContent } from './content-exchange.js';
import { DiskNames, type NameMaker } from './disk-names.js';
import type { Owner } from './restore.js';
import { nothingKnown, type Sidecar, writeSidecar } from './sidecar.js';
import type { WorkspacePlace } from './thread-messages.js';
import type { WorkspaceThreads } from './workspace-threads.js';

/** A directory with what others have published, in a directory each. Where it is mounted, and the same, nothing of it is read. */
export class OthersArtifacts {
  constructor(
    private readonly place: WorkspacePlace,
    private readonly of: { sidecarPath: string; owner: Owner | undefined; disk: NameMaker | undefined },
    private readonly threads: WorkspaceThreads,
    private known: Sidecar,
  ) {}

  get directory(): string {
    return this.place.directory;
  }

  /**
   * Makes the directory hold just these artifacts.
   *
   * @returns how many of them cannot be there
   * @throws SnapshotInvalid where content is not what the list says
   */
  async bringTo(seen: SeenBy, fetch: FetchContent, signal?: AbortSignal): Promise<number> {
    const wanted = createHash('sha256').update(JSON.stringify(seen)).digest('hex');
    if (this.known.at?.snapshot === wanted) return 0;
    if (this.known.at) await this.#note(undefined);
    const { owner, disk } = this.of;
    const tree = (names: DiskNames) => artifactTree(seen, fetch, names);
    const { root, manifests, left } = await DiskNames.within(this.place.temporary, tree, disk);
    const content = {
      manifest: (sha256: string, to: string) => {
        const manifest = manifests.get(sha256);
        return manifest ? writeFile(to, manifest, { mode: 0o600 }) : Promise.reject(new Error(`no manifest ${sha256}`));
      },
      file: (file: Parameters<typeof download>[0], path: string, to: string) => download(file, path, to, fetch),
    };
    const { isRecorded } = await this.threads.run('restore', this.place, { snapshot: root, owner }, content, signal);
    // Where it is not mounted, programs may write there.
    if (isRecorded && left === 0 && seen.link === undefined) await this.#note({ snapshot: wanted });
    return left;
  }

  async #note(at: Sidecar['at']): Promise<void> {
    const known: Sidecar = { ...nothingKnown(this.place.boot), ...(at && { at }) };
    await writeSidecar(this.of.sidecarPath, known);
    this.known = known;
  }
}
