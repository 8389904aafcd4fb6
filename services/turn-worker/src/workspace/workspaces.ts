import { chown, mkdir, stat } from 'node:fs/promises';
import { dirname, join } from 'node:path';
import { createHash } from 'node:crypto';
import type { Readable } from 'node:stream';
import type { AttemptRef } from '@suzumio/shared/protocol/attempts';
import { type Captured, capture } from './capture.js';
import { FileHashes } from './file-hashes.js';
import { type FetchContent, type Owner, parseManifest, restore } from './restore.js';
import type { WorkspaceBounds } from './scan.js';
import { nothingKnown, readSidecar, type Sidecar, writeSidecar } from './sidecar.js';
import { SnapshotInvalid } from './workspace-errors.js';

export interface WorkspacesOptions {
  /** Below it: `workspaces`, `snapshots` (what is known of each), `downloads`. */
  workerDir: string;
  bounds: WorkspaceBounds;
  /** Names this boot of the machine. */
  boot: string;
}

/** The directories in which agents keep their files, one each. */
export class Workspaces {
  constructor(private readonly options: WorkspacesOptions) {}

  /** The workspace of an agent; its directory is there from now on and belongs to `owner`. */
  async open(agent: Pick<AttemptRef, 'cell' | 'project' | 'agent'>, owner: Owner | undefined): Promise<Workspace> {
    const { workerDir, bounds, boot } = this.options;
    const name = join(agent.cell, agent.project, agent.agent);
    const directory = join(workerDir, 'workspaces', name);
    const sidecar = join(workerDir, 'snapshots', `${name}.json`);
    const temporary = join(workerDir, 'downloads', name);
    for (const path of [dirname(sidecar), temporary]) await mkdir(path, { recursive: true, mode: 0o700 });
    const isNew = (await mkdir(directory, { recursive: true, mode: 0o700 })) !== undefined;
    const { uid, gid } = await stat(directory);
    if (owner && (uid !== owner.uid || gid !== owner.gid)) await chown(directory, owner.uid, owner.gid);
    // What was known of a directory that somebody removed is not true of the new one.
    const known = isNew ? nothingKnown(boot) : await readSidecar(sidecar, boot);
    return new Workspace(directory, sidecar, temporary, { bounds, boot, owner }, known);
  }
}

/** One agent's files between and during its turns. Nobody else uses it meanwhile. */
export class Workspace {
  /** The content that the ToolHost has, because the snapshot at hand is made of it. */
  #stored: ReadonlySet<string> = new Set();

  constructor(
    readonly directory: string,
    private readonly sidecarPath: string,
    private readonly temporary: string,
    private readonly options: { bounds: WorkspaceBounds; boot: string; owner: Owner | undefined },
    private known: Sidecar,
  ) {}

  get stored(): ReadonlySet<string> {
    return this.#stored;
  }

  /**
   * Makes the directory exactly what `snapshot` says, and notes that from now on something may write in it.
   *
   * @throws SnapshotInvalid when the snapshot is not what its id or the rules of manifests say
   */
  async bringTo(snapshot: string | null, fetch: FetchContent): Promise<void> {
    if (this.known.at?.snapshot !== snapshot) {
      // A power cut in the middle must not leave a note that is no longer true.
      await this.#note({ hashes: this.known.hashes });
      const hashes = new FileHashes(this.known.hashes);
      const { bounds, owner } = this.options;
      const manifest =
        snapshot === null
          ? { version: 1 as const, entries: [] }
          : parseManifest(await this.#manifest(snapshot, fetch), bounds);
      await restore(this.directory, manifest, { hashes, bounds, fetch, owner, temporary: this.temporary });
      // Of exactly the files of the snapshot: `restore` asks for and notes no others.
      this.known = { ...this.known, hashes: hashes.entries() };
    }
    this.#stored = new Set(this.known.hashes.map(([, hash]) => hash[3]));
    await this.#note({ hashes: this.known.hashes });
  }

  /**
   * The directory's content now that nothing writes in it any more.
   *
   * @throws WorkspaceTooLarge beyond the bounds
   */
  async capture(): Promise<Captured> {
    const hashes = new FileHashes(this.known.hashes);
    const captured = await capture(this.directory, hashes, this.options.bounds);
    this.known = { ...this.known, hashes: hashes.entries() };
    return captured;
  }

  /** Notes that the directory is at `snapshot`, as just captured. */
  async settle(snapshot: string | null): Promise<void> {
    await this.#note({ hashes: this.known.hashes, at: { snapshot } });
  }

  async #note(content: Pick<Sidecar, 'at' | 'hashes'>): Promise<void> {
    this.known = { version: 1, boot: this.options.boot, ...content };
    await writeSidecar(this.sidecarPath, this.known);
  }

  async #manifest(snapshot: string, fetch: FetchContent): Promise<Buffer> {
    const bytes = await bounded(await fetch(snapshot));
    if (createHash('sha256').update(bytes).digest('hex') === snapshot) return bytes;
    throw new SnapshotInvalid('The content of the snapshot is not what its id says.');
  }
}

/** No manifest within the bounds of a workspace is as long as this. */
const maxManifestBytes = 64 * 1024 * 1024;

async function bounded(content: Readable): Promise<Buffer> {
  const chunks: Buffer[] = [];
  let sizeBytes = 0;
  for await (const chunk of content as AsyncIterable<Buffer>) {
    sizeBytes += chunk.length;
    if (sizeBytes > maxManifestBytes) throw new SnapshotInvalid('The manifest of the snapshot is too long.');
    chunks.push(chunk);
  }
  return Buffer.concat(chunks);
}
