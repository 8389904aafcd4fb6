import type { Duplex } from 'node:stream';
import type { AttemptRef, ProjectRef, SandboxLimits } from '@suzumio/protocol/attempts';
import type { RunnerTurnInput } from '@suzumio/protocol/runner';
import type { Owner } from '../workspace/restore.js';

/**
 * One attempt among all of its agent, which has at most one at a time: a later one has a greater epoch, or else turn
 * number, or else attempt.
 */
export interface AttemptPlace extends AttemptRef {
  /** Infinite where the ToolHost does not say it: then no other one is known to be later. */
  turnNumber: number;
}

/** What turns run in. Whatever fails is thrown as an `AttemptFailure`, whose code says what follows. */
export interface TurnEngine {
  /** Which engine this is, for the ToolHost to tell hosts apart. */
  readonly name: string;
  /** Resolves when a turn could run now. The first time, removes what an earlier process of this worker left running. */
  probe(): Promise<void>;
  /**
   * Kills the sandboxes of an agent's earlier attempts, and waits until none is left. False when a later attempt has one:
   * this one is over, whatever its worker believes.
   */
  evict(place: AttemptPlace): Promise<boolean>;
  /** Looks up what a sandbox will be made of. */
  prepare(limits: SandboxLimits): Promise<PreparedSandbox>;
  /** The names of the images that it has; absent where its turns need none. */
  images?(): Promise<string[]>;
  /** Directories of the host in which it keeps its state, once it was probed; absent where it keeps none. */
  readonly stateDirectories?: readonly string[];
  /** Projects of which ended sandboxes are kept. */
  kept(): Promise<ProjectRef[]>;
  /** Removes ended sandboxes that were kept long enough, or whose project is gone. */
  sweep(isGone: (project: ProjectRef) => boolean): Promise<void>;
  /** Lets go of everything; what was begun in the background is finished, within a bound. */
  close(): Promise<void>;
}

/** A sandbox that could be started: what the runner in it will see. */
export interface PreparedSandbox {
  /** Who the runner's files belong to, where that is not the worker's own user. */
  readonly owner: Owner | undefined;
  readonly door: DoorPlace;
  /** The workspace's path as the runner sees it. */
  workspaceSeen(directory: string): string;
  /** Where the runner finds its door, now that it is open. */
  controllerUrl(door: OpenDoor): string;
  start(options: StartOptions): Promise<Sandbox>;
}

/**
 * Where the worker is to open the door of a sandbox.
 *
 * - `socket`: a unix socket in the door's directory
 * - `connections`: nowhere; the sandbox hands out connections
 * - `relay`: a TCP port of this address. `publishes` says whether the worker uploads what the runner publishes, because
 *   nothing of ours runs beside it
 * - `elsewhere`: nowhere; the project file says where the runner is to go instead
 */
export type DoorPlace =
  { kind: 'socket' | 'connections' | 'elsewhere' } | { kind: 'relay'; address: string; publishes: boolean };

/** What the worker listens at: a path that is short enough for sockets, and a relay's port. */
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
  workspace: string;
  /** What of the host is mounted besides: allowed, and with links followed. */
  mounts: SandboxLimits['mounts'];
  /** Throws where `mounts` are no longer what was checked; called once nobody can change that any more. */
  recheckMounts: () => void;
  /** What the runner finds in its input, for those that look into their environment. */
  input: Pick<RunnerTurnInput, 'controllerUrl' | 'token'>;
  /** Gets the connections of a door of that kind. */
  onConnection: (connection: Duplex) => void;
  /** The most bytes of one file that may be written. */
  maxFileBytes: number;
  /** The most of the log that is kept, from its end. */
  maxLogBytes: number;
}

/** Something that runs one attempt. */
export interface Sandbox {
  /** The engine's name for it. */
  readonly id: string;
  /** Resolves when nothing of it runs any more. Never rejects. */
  readonly ended: Promise<SandboxEnd>;
  /** Aborted, with a {@link Disturbance} as its reason, once something besides the turn itself may have ended it. */
  readonly disturbed: AbortSignal;
  /**
   * How many bytes of the disk that its workspace is on it holds in open files that have no name any more; 0 where that
   * cannot be seen. Never rejects.
   */
  unlinkedBytes(): Promise<number>;
  /** Kills everything in it, and waits until it has ended. Rejects when the engine cannot do that for long. */
  kill(): Promise<void>;
  /** The end of what was written to its standard output and error, after it has ended. */
  log(): Promise<Buffer>;
  /** It is no longer needed: the engine removes it, or keeps it by policy, without anybody waiting. */
  release(outcome: 'completed' | 'failed'): void;
}

/**
 * What shows that a turn may not have ended by itself. Nothing in a sandbox can bring it about.
 *
 * - `signalled`: the engine was told to send it a signal; also by this worker's own `kill`
 * - `engine-away`: it ended while the engine could not be heard, or the engine went away right after
 */
export type Disturbance = 'signalled' | 'engine-away';

export interface SandboxEnd {
  exitCode: number;
  signal?: string;
  oomKilled?: boolean;
  /** The engine no longer knows of it: how it ended is unknown. */
  vanished?: boolean;
  /** The image has no `node` that the shim could run with. */
  withoutNode?: boolean;
}
