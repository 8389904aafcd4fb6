import type { AppliedArtifact } from '@suzumio/protocol/artifacts';
import { maxShownBytes } from '@suzumio/protocol/conversation';
import type { ShownImage } from '@suzumio/protocol/images';
import type { Repository } from '@suzumio/protocol/repository';
import type { LiveOutput } from '../live/live-output.js';
import type { BackgroundProcesses } from './processes/background-processes.js';
import type { Roots } from './paths/roots.js';

/** Where sandbox tools run. One a turn. */
export interface Sandbox {
  readonly roots: Roots;
  /** What the workspace was cloned from; undefined where it is no clone. */
  readonly repository: Repository | undefined;
  /** What commands find in their environment. */
  readonly env: Readonly<Record<string, string | undefined>>;
  readonly limits: SandboxLimits;
  readonly processes: BackgroundProcesses;
  /** Reads content of an artifact, of at most `maxBytes`. */
  readonly fetch: (sha256: string, maxBytes: number) => Promise<Buffer>;
  /** Writes to the turn's log. */
  readonly log: (bytes: Buffer) => void;
  /** Tells followers of the turn what its commands print. */
  readonly live: Pick<LiveOutput, 'add' | 'ended'>;
  /** Stores what the turn's model is to see; undefined where it sees no images. */
  readonly show: ((image: Buffer) => Promise<string>) | undefined;
}

/** One call of a tool. */
export interface SandboxCall {
  /** Its place in the turn: output files and handles are named for it, so that no attempt takes another's for its own. */
  readonly step: string;
  /** What it applies. */
  readonly artifact?: AppliedArtifact | undefined;
  /** Aborted when the turn is over: what runs is ended. */
  readonly signal: AbortSignal;
}

export interface SandboxLimits {
  /** The largest file that is written or patched. */
  readonly fileBytes: number;
  /** How much of a result is shown, whatever a call asks for: more would be cut where its model is told of it, without a word on how to read the rest. */
  readonly shownBytes: number;
  /** How much of a command's output is kept in its file, and how much of it goes to the turn's log. */
  readonly outputFileBytes: number;
  readonly loggedBytes: number;
  readonly searchMs: number;
}

export const usualLimits: SandboxLimits = {
  fileBytes: 16 * 1024 * 1024,
  shownBytes: maxShownBytes,
  outputFileBytes: 64 * 1024 * 1024,
  loggedBytes: 64 * 1024,
  searchMs: 30_000,
};

/** A tool's answer. */
export interface SandboxResponse {
  readonly output: string;
  readonly title?: string;
  readonly metadata?: Record<string, unknown>;
  /** An image that the turn's model is shown. */
  readonly image?: ShownImage;
}
