import { chown, mkdir, readdir, stat } from 'node:fs/promises';
import { dirname, join } from 'node:path';
import { createHash } from 'node:crypto';
import type { AttemptRef, ProjectRef } from '@suzumio/protocol/attempts';
import { errnoOf } from '../files/errno.js';
import { removeTree } from '../files/remove-tree.js';
import { type Captured, capture } from './capture.js';
import { FileHashes } from './file-hashes.js';
import { type FetchContent, type Owner, parseManifest, restore } from './restore.js';
import type { WorkspaceBounds } from './scan.js';
import { nothingKnown, readSidecar, type Sidecar, writeSidecar } from './sidecar.js';
import { SnapshotInvalid } from './workspace-errors.js';

export interface WorkspacesOptions {
  /** Contains `workspaces`, `snapshots` (the knowledge of each) and `downloads`. */
  workerDir: string;
  bounds: WorkspaceBounds;
  /** Identifies this boot of the machine. */
  boot: string;
}

/** The directories in which agents keep their files, one each. */
export class Workspaces {
  constructor(private readonly options: WorkspacesOptions) {}

  /** The workspace of an agent; its directory exists from now on and belongs to `owner`. */
  async open(agent: ProjectRef & Pick<AttemptRef, 'agent'>, owner: Owner | undefined): Promise<Workspace> {
    const { workerDir, bounds, boot } = this.options;
    const name = join(nameOf(agent), agent.agent);
    const directory = join(workerDir, directories.workspaces, name);
    const sidecar = join(workerDir, directories.sidecars, `${name}.json`);
    const temporary = join(workerDir, directories.temporary, name);
    for (const path of [dirname(sidecar), temporary]) await mkdir(path, { recursive: true, mode: 0o700 });
    const isNew = (await mkdir(directory, { recursive: true, mode: 0o700 })) !== undefined;
    const { uid, gid } = await stat(directory);
    const isAnothers = owner !== undefined && (uid !== owner.uid || gid !== owner.gid);
    if (isAnothers) await chown(directory, owner.uid, owner.gid);
    // Knowledge of a removed directory does not apply to the new one. Files of another user change their owner when the
    // directory is restored to its snapshot.
    const known = isNew || isAnothers ? nothingKnown(boot) : await readSidecar(sidecar, boot);
    return new Workspace(directory, sidecar, temporary, { bounds, boot, owner }, known);
  }

  /** The projects with workspaces. */
  async projects(): Promise<ProjectRef[]> {
    const root = join(this.options.workerDir, directories.workspaces);
    const projects: ProjectRef[] = [];
    for (const cell of await namesIn(root)) {
      for (const name of await namesIn(join(root, cell))) {
        const [, project, epoch] = /^([a-z0-9][a-z0-9-]*)\.(\d{1,9})$/.exec(name) ?? [];
        if (project !== undefined) projects.push({ cell, project, epoch: Number(epoch) });
      }
    }
    return projects;
  }

  /** Removes all workspaces of a project. They must not be in use. */
  async remove(project: ProjectRef): Promise<void> {
    const { temporary, sidecars, workspaces } = directories;
    // The workspaces last: leftovers are found by them.
    for (const directory of [temporary, sidecars, workspaces]) {
      await removeTree(join(this.options.workerDir, directory, nameOf(project)));
    }
  }
}

/** The subdirectories of a worker's directory for workspaces. */
const directories = { workspaces: 'workspaces', sidecars: 'snapshots', temporary: 'downloads' };

/** A unique name of a project, also among projects that had the same name. */
function nameOf({ cell, project, epoch }: ProjectRef): string {
  return join(cell, `${project}.${epoch}`);
}

async function namesIn(directory: string): Promise<string[]> {
  return readdir(directory).catch((error: unknown) => {
    if (errnoOf(error) === 'ENOENT') return [];
    throw error;
  });
}

/** One agent's files between and during its turns, for one user at a time. */
export class Workspace {
  /** The content that the ToolHost has, as part of the present snapshot. */
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
   * Makes the directory equal `snapshot`, and records that something may write in it from now on.
   *
   * @throws SnapshotInvalid when the snapshot does not match its id or violates the manifest's rules
   */
  async bringTo(snapshot: string | null, fetch: FetchContent): Promise<void> {
    if (this.known.at?.snapshot !== snapshot) {
      // Recorded first: a power cut in the middle must not leave a false record.
      await this.#note({ hashes: this.known.hashes });
      const hashes = new FileHashes(this.known.hashes);
      const { bounds, owner } = this.options;
      const manifest =
        snapshot === null
          ? { version: 1 as const, entries: [] }
          : parseManifest(await this.#manifest(snapshot, fetch), bounds);
      await restore(this.directory, manifest, { hashes, bounds, fetch, owner, temporary: this.temporary });
      // Exactly the snapshot's files: `restore` reads and records no others.
      this.known = { ...this.known, hashes: hashes.entries() };
    }
    this.#stored = new Set(this.known.hashes.map(([, hash]) => hash[3]));
    await this.#note({ hashes: this.known.hashes });
  }

  /**
   * The directory's content, once nothing writes in it any more.
   *
   * @throws WorkspaceTooLarge beyond the limits
   */
  async capture(): Promise<Captured> {
    const hashes = new FileHashes(this.known.hashes);
    const captured = await capture(this.directory, hashes, this.options.bounds);
    this.known = { ...this.known, hashes: hashes.entries() };
    return captured;
  }

  /** Records that the directory equals `snapshot`, as just captured. */
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

/** A manifest within a workspace's limits is shorter than this. */
const maxManifestBytes = 64 * 1024 * 1024;

async function bounded(content: AsyncIterable<Uint8Array>): Promise<Buffer> {
  const chunks: Uint8Array[] = [];
  let sizeBytes = 0;
  for await (const chunk of content) {
    sizeBytes += chunk.length;
    if (sizeBytes > maxManifestBytes) throw new SnapshotInvalid('The manifest of the snapshot is too long.');
    chunks.push(chunk);
  }
  return Buffer.concat(chunks);
}
