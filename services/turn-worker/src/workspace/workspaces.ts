import { chown, mkdir, readdir, stat } from 'node:fs/promises';
import { dirname, join } from 'node:path';
import type { AttemptRef, ProjectRef } from '@suzumio/protocol/attempts';
import { captureScope } from '@suzumio/protocol/ignored-roots';
import { errnoOf } from '../files/errno.js';
import { removeTree } from '../files/remove-tree.js';
import type { Captured } from './capture.js';
import type { WorkspaceBounds } from './workspace-bounds.js';
import { download, downloadManifest, type FetchContent } from './content-exchange.js';
import type { NameMaker } from './disk-names.js';
import type { Content } from './read-file.js';
import type { Owner } from './restore.js';
import { OthersArtifacts } from './others-artifacts.js';
import type { OwnDirectory } from './own-directory.js';
import { nothingKnown, readSidecar, type Sidecar, writeSidecar } from './sidecar.js';
import type { WorkspacePlace } from './thread-messages.js';
import type { WorkspaceThreads } from './workspace-threads.js';

export interface WorkspacesOptions {
  /** Contains `workspaces`, `snapshots` (the knowledge of each) and `downloads`. */
  workerDir: string;
  /** Of workspaces that are opened without bounds of their own. */
  bounds: WorkspaceBounds;
  /** Identifies this boot of the machine. */
  boot: string;
  threads: WorkspaceThreads;
  /** What names are made with. @default the disk itself */
  disk?: NameMaker;
}

/** An agent's home during an attempt: what its programs keep from turn to turn and can get again. No snapshot holds it. */
export interface AgentHome {
  readonly directory: string;
  /** What it had too much of, if it was emptied before the attempt. */
  readonly emptied: string | undefined;
  /** Says what it has too much of, so that it begins anew with the next attempt; undefined where it has room. */
  noteFull(why: string | undefined): void;
}

/** The directories in which agents keep their files, and find those of others. */
export class Workspaces {
  /** Which homes begin anew, and why. A worker that starts knows of none, until it watches their next turns. */
  readonly #fullHomes = new Map<string, string>();

  constructor(private readonly options: WorkspacesOptions) {}

  /** The workspace of an agent; its directory exists from now on and belongs to `owner`. */
  async open(
    agent: ProjectRef & Pick<AttemptRef, 'agent'>,
    owner: Owner | undefined,
    {
      ignored = [],
      tracked = [],
      bounds = this.options.bounds,
    }: Partial<Pick<WorkspacePlace, 'ignored' | 'tracked' | 'bounds'>> = {},
  ): Promise<Workspace> {
    const { workerDir, boot, threads } = this.options;
    const name = join(nameOf(agent), agent.agent);
    const directory = join(workerDir, directories.workspaces, name);
    const own = { directory: join(workerDir, directories.artifacts, name, 'own'), agent: agent.agent };
    const sidecar = join(workerDir, directories.sidecars, `${name}.json`);
    const temporary = join(workerDir, directories.temporary, name);
    // Whatever of the worker's directory was removed is made again.
    await mkdir(dirname(sidecar), { recursive: true, mode: 0o700 });
    const ofOwn = await this.#directory(own.directory, owner);
    const { isNew, isOther } = await this.#directory(directory, owner);
    // Knowledge of a removed directory does not apply to the new one. Files of another user change their owner when the
    // directory is restored to its snapshot.
    const known = isOther || ofOwn.isOther ? nothingKnown(boot) : await readSidecar(sidecar, boot);
    const place = {
      directory,
      own,
      treeFile: treeFileOf(sidecar),
      temporary,
      boot,
      bounds,
      ignored,
      tracked,
    };
    return new Workspace(place, { isNew, sidecarPath: sidecar, owner }, threads, known);
  }

  /** The directory of what others have published, for an agent of this user. */
  async others(agent: ProjectRef & Pick<AttemptRef, 'agent'>, owner: Owner | undefined): Promise<OthersArtifacts> {
    const { workerDir, bounds, boot, threads, disk } = this.options;
    // No agent has such a name.
    const name = join(nameOf(agent), '@others', agent.agent);
    const directory = join(workerDir, directories.artifacts, nameOf(agent), agent.agent, 'all');
    const sidecar = join(workerDir, directories.sidecars, `${name}.json`);
    const temporary = join(workerDir, directories.temporary, name);
    await mkdir(dirname(sidecar), { recursive: true, mode: 0o700 });
    const { isOther } = await this.#directory(directory, owner);
    const place = { directory, treeFile: treeFileOf(sidecar), temporary, boot, bounds, ignored: [], tracked: [] };
    const known = isOther ? nothingKnown(boot) : await readSidecar(sidecar, boot);
    return new OthersArtifacts(place, { sidecarPath: sidecar, owner, disk }, threads, known);
  }

  /** Makes a directory where it is not there, and the owner's where it is another user's. */
  async #directory(path: string, owner: Owner | undefined): Promise<{ isNew: boolean; isOther: boolean }> {
    const found = await stat(path).catch(absent);
    if (!found) await mkdir(path, { recursive: true, mode: 0o700 });
    const { uid, gid } = found ?? (await stat(path));
    const isAnothers = owner !== undefined && (uid !== owner.uid || gid !== owner.gid);
    if (isAnothers) await chown(path, owner.uid, owner.gid);
    return { isNew: !found, isOther: !found || isAnothers };
  }

  /** The home of an agent. One that was seen to be too full, or is another user's, begins anew. */
  async home(agent: ProjectRef & Pick<AttemptRef, 'agent'>, owner: Owner | undefined): Promise<AgentHome> {
    const directory = join(this.options.workerDir, directories.homes, nameOf(agent), agent.agent);
    await mkdir(directory, { recursive: true, mode: 0o700 });
    const { uid } = await stat(directory);
    const isAnothers = owner !== undefined && uid !== owner.uid;
    const emptied = this.#fullHomes.get(directory);
    if (isAnothers || emptied !== undefined) {
      await removeTree(directory);
      await mkdir(directory, { mode: 0o700 });
      if (owner) await chown(directory, owner.uid, owner.gid);
    }
    this.#fullHomes.delete(directory);
    return {
      directory,
      emptied,
      noteFull: (why) => {
        if (why === undefined) this.#fullHomes.delete(directory);
        else this.#fullHomes.set(directory, why);
      },
    };
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
    const { temporary, sidecars, homes, artifacts, workspaces } = directories;
    // The workspaces last: leftovers are found by them.
    for (const directory of [temporary, sidecars, homes, artifacts, workspaces]) {
      await removeTree(join(this.options.workerDir, directory, nameOf(project)));
    }
  }
}

/** The subdirectories of a worker's directory for agents' files. */
const directories = {
  workspaces: 'workspaces',
  artifacts: 'artifacts',
  sidecars: 'snapshots',
  temporary: 'downloads',
  homes: 'homes',
};

/** Beside what is known of a directory as a whole. */
const treeFileOf = (sidecar: string): string => `${sidecar.slice(0, -'.json'.length)}.tree`;

/** A unique name of a project, also among projects that had the same name. */
function nameOf({ cell, project, epoch }: ProjectRef): string {
  return join(cell, `${project}.${epoch}`);
}

async function namesIn(directory: string): Promise<string[]> {
  return (await readdir(directory).catch(absent)) ?? [];
}

function absent(error: unknown): undefined {
  if (errnoOf(error) !== 'ENOENT') throw error;
}

export interface CaptureTo {
  /** Stores content that the ToolHost may not have; called for several at a time. */
  store: (content: Content) => Promise<void>;
  /** Whether a program may be writing there now. */
  live?: boolean;
  signal?: AbortSignal;
}

/**
 * One agent's files between and during its turns, for one user at a time. While its content is known, because nothing may have
 * written in it, nothing of it is read.
 */
export class Workspace {
  #noting: Promise<void> | undefined;
  #hasOneTime = false;
  /** The last capture, if its content is recorded. */
  #captured: Sidecar['at'];

  constructor(
    private place: WorkspacePlace & { own: OwnDirectory },
    private readonly of: { isNew: boolean; sidecarPath: string; owner: Owner | undefined },
    private readonly threads: WorkspaceThreads,
    private known: Sidecar,
  ) {}

  get directory(): string {
    return this.place.directory;
  }

  /** The agent's own directory of artifacts, which is captured and restored with it. */
  get ownArtifacts(): string {
    return this.place.own.directory;
  }

  /** Whether this host had nothing of the agent's before: no directory that is not captured is there. */
  get isNew(): boolean {
    return this.of.isNew;
  }

  /** Whether it was brought to a snapshot of an earlier version, which has no times: all files have the same one. */
  get hasOneTime(): boolean {
    return this.#hasOneTime;
  }

  get bounds(): WorkspaceBounds {
    return this.place.bounds;
  }

  /** Whether a directory at this path is a cache of this host: not captured, and left where it is. */
  get isIgnored(): (path: string) => boolean {
    return captureScope(this.place.ignored, this.place.tracked).isIgnored;
  }

  get ignored(): readonly string[] {
    return this.place.ignored;
  }

  /** From now on these are captured, too, though they are in ignored directories: see `trackedPaths`. */
  track(tracked: readonly string[]): void {
    this.place = { ...this.place, tracked };
  }

  /**
   * Makes the directory equal `snapshot`.
   *
   * @throws SnapshotInvalid when the snapshot does not match its id or violates the manifests' rules
   */
  async bringTo(snapshot: string | null, fetch: FetchContent, signal?: AbortSignal): Promise<void> {
    if (this.known.at?.snapshot === snapshot) return;
    // Recorded first: a power cut in the middle must not leave a false record.
    await this.#note(undefined);
    const content = {
      manifest: (sha256: string, to: string) => downloadManifest(sha256, to, fetch),
      file: (file: Parameters<typeof download>[0], path: string, to: string) => download(file, path, to, fetch),
    };
    const { owner } = this.of;
    const { isRecorded, hasTimes } = await this.threads.run(
      'restore',
      this.place,
      { snapshot, owner },
      content,
      signal,
    );
    this.#hasOneTime = !hasTimes;
    if (isRecorded) await this.#note({ snapshot });
  }

  /** Records that something may write in the directory from now on; called before it can. */
  async expectWrites(): Promise<void> {
    if (!this.known.at) return;
    this.#noting ??= this.#note(undefined).finally(() => (this.#noting = undefined));
    await this.#noting;
  }

  /**
   * Captures the directory and stores its new content; while a program writes there, as a power cut would leave it.
   *
   * @throws WorkspaceTooLarge beyond the limits; what `store` throws, or what `signal` was aborted with
   */
  async capture({ store, live = false, signal }: CaptureTo): Promise<Omit<Captured, 'root'>> {
    const { at } = this.known;
    if (at) return { id: at.snapshot };
    const { isRecorded, ...captured } = await this.threads.run('capture', this.place, { live }, { store }, signal);
    this.#captured = isRecorded ? { snapshot: captured.id } : undefined;
    return captured;
  }

  /** Records that nothing writes in the directory any more, and that it equals `snapshot`, as just captured. */
  async settle(snapshot: string | null): Promise<void> {
    if (!this.known.at && this.#captured?.snapshot === snapshot) await this.#note({ snapshot });
  }

  async #note(at: Sidecar['at']): Promise<void> {
    const known: Sidecar = { version: 2, boot: this.place.boot, ...(at && { at }) };
    await writeSidecar(this.of.sidecarPath, known);
    this.known = known;
  }
}
