import type { Duplex } from 'node:stream';
import type { AttemptRef, ProjectRef, SandboxLimits } from '@suzumio/protocol/attempts';
import type { RunnerTurnInput } from '@suzumio/protocol/runner';
import type { Owner } from '../workspace/restore.js';

/**
 * The order of an agent's attempts, of which one runs at a time: a later one has a greater epoch, or turn number, or
 * attempt.
 */
export interface AttemptPlace extends AttemptRef {
  /** Infinite where the ToolHost does not send it: then no other attempt is known to be later. */
  turnNumber: number;
}

/** A project, whatever data of it was restored or made anew. */
export type Tenant = Pick<ProjectRef, 'cell' | 'project'>;

/** Runs turns in sandboxes. Errors are thrown as `AttemptFailure`, whose code decides what follows. */
export interface TurnEngine {
  /** Identifies this engine, so that the ToolHost can tell hosts apart. */
  readonly name: string;
  /** Resolves if a turn could run now. The first call removes what this worker's previous process left running. */
  probe(): Promise<void>;
  /**
   * Kills the sandboxes of an agent's earlier attempts, and waits until none is left. False where a later attempt has
   * one: then this one is over, even if its worker does not know it.
   */
  evict(place: AttemptPlace): Promise<boolean>;
  /** Prepares a sandbox of a project: looks up its image, network and user. */
  prepare(limits: SandboxLimits, project: Tenant): Promise<PreparedSandbox>;
  /** The names of its images; absent where its turns need none. */
  images?(): Promise<string[]>;
  /** The host directories of its own state, after a probe; absent where it has none. */
  readonly stateDirectories?: readonly string[];
  /** Projects with ended sandboxes that are kept. */
  kept(): Promise<ProjectRef[]>;
  /** Removes ended sandboxes past their retention, or of deleted projects. */
  sweep(isGone: (project: ProjectRef) => boolean): Promise<void>;
  /** Releases everything; background work is finished, within a bound. */
  close(): Promise<void>;
}

/** A prepared sandbox: what the runner in it will see. */
export interface PreparedSandbox {
  /** The owner of the runner's files, where that is not the worker's own user. */
  readonly owner: Owner | undefined;
  readonly door: DoorPlace;
  /** The toolpacks whose tools its runner carries out. */
  readonly toolpacks: readonly string[];
  /**
   * Whether all that may write in the workspace is announced at the door: Suzumio's own runner begins each step there, and
   * nothing runs before it.
   */
  readonly announcesWrites: boolean;
  /** The runner's path of the workspace. */
  workspaceSeen(directory: string): string;
  /** The runner's paths of the directories of artifacts. Where they are the same, programs can write in those of others. */
  artifactsSeen(directories: ArtifactsDirectories, agent: string): ArtifactsDirectories;
  /** The runner's path of the local toolpacks. */
  toolpacksSeen(directory: string): string;
  /** The runner's address of the open door. */
  controllerUrl(door: OpenDoor): string;
  start(options: StartOptions): Promise<Sandbox>;
}

/** The directory that has one of each agent in it, and the agent's own, which is found there, too. */
export interface ArtifactsDirectories {
  all: string;
  own: string;
}

/**
 * Where the worker opens a sandbox's door.
 *
 * - `socket`: a unix socket in the door's directory
 * - `connections`: nowhere; the sandbox hands connections over
 * - `relay`: a TCP port of this address. `publishes` says whether the worker uploads published files, because no shim
 *   runs beside the runner
 * - `elsewhere`: nowhere; the project file names the runner's address
 */
export type DoorPlace =
  | { kind: 'socket' | 'connections' | 'elsewhere' }
  | { kind: 'relay'; address: string; publishes: boolean };

/** Where the worker listens: a path short enough for sockets, and a relay's port. */
export interface OpenDoor {
  socket: string;
  port?: number;
}

export interface StartOptions {
  ref: AttemptPlace;
  /** Holds `input.json`, and gets `output.json`. */
  turnDirectory: string;
  /** Holds `door.sock`. */
  doorDirectory: string;
  /** Where temporary files go in a sandbox without a file system of its own: removed with the turn, not made yet. */
  temporary: string;
  workspace: string;
  /** The directories of artifacts, where it has any. */
  artifacts?: ArtifactsDirectories | undefined;
  /** For caches, where its tools run programs. */
  home: string | undefined;
  /** Holds the local toolpacks, for reading; undefined where there are none. */
  toolpacks: string | undefined;
  /** Further mounts from the host: allowed by the policy, with links resolved. */
  mounts: SandboxLimits['mounts'];
  /** Throws where `mounts` are no longer what was checked; called once no one can change that any more. */
  recheckMounts: () => void;
  /** Fields of the runner's input, for runners that read their environment instead. */
  input: Pick<RunnerTurnInput, 'controllerUrl' | 'token'>;
  /** Receives the connections of a door of the kind `connections`. */
  onConnection: (connection: Duplex) => void;
  /** The largest file that may be written. */
  maxFileBytes: number;
  /** How much of the log is kept, from its end. */
  maxLogBytes: number;
}

/** A sandbox that runs one attempt. */
export interface Sandbox {
  /** The engine's name for it. */
  readonly id: string;
  /** Resolves when nothing in it runs any more. Never rejects. */
  readonly ended: Promise<SandboxEnd>;
  /** Aborted, with a {@link Disturbance} as its reason, once an external cause may have ended it. */
  readonly disturbed: AbortSignal;
  /** Bytes in unlinked open files on the workspace's disk; 0 where that cannot be seen. Never rejects. */
  unlinkedBytes(): Promise<number>;
  /** Does what reads its files while it runs. Where the host cannot do that safely beside its programs, they are paused. */
  whileReadable<Result>(work: () => Promise<Result>): Promise<Result>;
  /** Kills everything in it, and waits until it has ended. Rejects when the engine cannot do that for long. */
  kill(): Promise<void>;
  /** The end of its standard output and error, after it has ended. */
  log(): Promise<Buffer>;
  /** Releases it: the engine removes it, or keeps it by policy, in the background. */
  release(outcome: 'completed' | 'failed'): void;
}

/**
 * An external cause that may have ended a turn. Nothing in a sandbox can bring it about.
 *
 * - `signalled`: the engine was told to send it a signal; also by this worker's own `kill`
 * - `engine-away`: it ended while the engine was unreachable, or shortly before
 */
export type Disturbance = 'signalled' | 'engine-away';

export interface SandboxEnd {
  exitCode: number;
  signal?: string;
  oomKilled?: boolean;
  /** The engine no longer knows it: how it ended is unknown. */
  vanished?: boolean;
  /** The image has no `node` that the shim could run with. */
  withoutNode?: boolean;
}
