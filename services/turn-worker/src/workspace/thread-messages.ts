import type { SnapshotBounds, SnapshotFile } from '@suzumio/protocol/workspace-snapshot';
import type { WorkspaceBounds } from './capture.js';
import type { Content } from './read-file.js';
import type { Owner } from './restore.js';

/** One workspace as its thread knows it. */
export interface WorkspacePlace {
  directory: string;
  /** What is known of it between turns. */
  treeFile: string;
  /** For content on its way: on the same file system, outside of every mount. */
  temporary: string;
  /** Names this boot of the machine. */
  boot: string;
  bounds: WorkspaceBounds & SnapshotBounds;
}

/** What a workspace's thread is asked to do. */
export interface Jobs {
  /** Makes the directory what a snapshot says; nothing where it was left at that snapshot and nobody wrote since. */
  restore: { snapshot: string | null; isUntouched: boolean; owner: Owner | undefined };
  capture: { live: boolean };
  /** Writes down what is known, if it is of this snapshot. */
  save: { snapshot: string | null };
}

/** What comes of it. */
export interface Results {
  restore: null;
  /** The snapshot, and how many entries it could not hold. */
  capture: { id: string | null; dropped: number };
  /** Whether it was written down. */
  save: boolean;
}

export type JobKind = keyof Jobs;
export type Job = { [Kind in JobKind]: { kind: Kind; place: WorkspacePlace } & Jobs[Kind] }[JobKind];

/** What a thread asks for while it is at a job: whatever needs the ToolHost. */
export interface Asks {
  /** Stores content under its hash. */
  store: { content: Content };
  /** The manifest with this hash, unchecked. */
  manifest: { sha256: string };
  /** Writes the content of a file where it says. */
  file: { file: Pick<SnapshotFile, 'sha256' | 'sizeBytes'>; path: string; to: string };
}

export interface Answers {
  store: null;
  manifest: Uint8Array;
  file: null;
}

export type AskKind = keyof Asks;
export type Ask = { [Kind in AskKind]: { kind: Kind } & Asks[Kind] }[AskKind];

/** An error as it can be sent: `code` of a system error. */
export interface SentError {
  name: string;
  message: string;
  code?: string | undefined;
}

export type ToThread =
  | { job: number; begin: Job; stop: Int32Array }
  /** The answer to an ask; without a value it failed. */
  | { job: number; ask: number; value?: Answers[AskKind] };

export type FromThread =
  | { job: number; ask: number; asks: Ask }
  | { job: number; done: Results[JobKind] }
  | { job: number; failed: SentError };

/** What a job fails with when something that it asked for could not be had: whoever was asked knows why. */
export const askFailed = 'AskFailed';
/** What a job fails with that was stopped. */
export const jobStopped = 'JobStopped';
