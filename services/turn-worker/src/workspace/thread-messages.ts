import type { SnapshotFile } from '@suzumio/protocol/workspace-snapshot';
import type { Captured } from './capture.js';
import type { WorkspaceBounds } from './workspace-bounds.js';
import type { OwnDirectory } from './own-directory.js';
import type { Content } from './read-file.js';
import type { Owner } from './restore.js';

/** What a thread needs to work on a workspace. */
export interface WorkspacePlace {
  directory: string;
  /** The agent's own directory of artifacts, part of its snapshots; absent where that is none. */
  own?: OwnDirectory | undefined;
  /** The known content, stored between turns. */
  treeFile: string;
  /** For content in transfer: on the same file system, outside of every mount. */
  temporary: string;
  /** Identifies this boot of the machine. */
  boot: string;
  /** Of its captures. A snapshot may have more, from before they were lowered. */
  bounds: WorkspaceBounds;
  /** Directories that are not captured: see `ignoredRoots`. */
  ignored: readonly string[];
  /** What of them is captured all the same: see `trackedPaths`. */
  tracked: readonly string[];
}

/** The jobs of a workspace's thread. */
export interface Jobs {
  /** Makes the directory equal a snapshot. */
  restore: { snapshot: string | null; owner: Owner | undefined };
  capture: { live: boolean };
}

/** Their results. `isRecorded`: whether the known content is stored, for the threads of a later process. */
export interface Results {
  /** `hasTimes`: whether the snapshot has times of modification. */
  restore: { isRecorded: boolean; hasTimes: boolean };
  /** The snapshot, what it lacks, and whether the content is recorded; never if live. */
  capture: Omit<Captured, 'root'> & { isRecorded: boolean };
}

export type JobKind = keyof Jobs;
export type Job = { [Kind in JobKind]: { kind: Kind; place: WorkspacePlace } & Jobs[Kind] }[JobKind];

/** Requests of a thread during a job: for everything that needs the ToolHost. */
export interface Asks {
  /** Stores content under its hash. */
  store: { content: Content };
  /** Writes the manifest with this hash to `to`, unchecked. */
  manifest: { sha256: string; to: string };
  /** Writes a file's content to `to`. */
  file: { file: Pick<SnapshotFile, 'sha256' | 'sizeBytes'>; path: string; to: string };
}

/** How much memory a thread's work may take, in bytes, by what is known of it. */
export interface ThreadMemory {
  /** The trees that it keeps. */
  keptBytes: number;
  /** One job, which throws JobTooLong beyond. */
  jobBytes: number;
}

export type AskKind = keyof Asks;
export type Ask = { [Kind in AskKind]: { kind: Kind } & Asks[Kind] }[AskKind];

/** An error as plain data, with the `code` of a system error. */
export interface SentError {
  name: string;
  message: string;
  code?: string | undefined;
}

export type ToThread =
  | { job: number; begin: Job; stop: Int32Array }
  /** The answer to a request. */
  | { job: number; ask: number; isDone: boolean };

export type FromThread =
  | { job: number; ask: number; asks: Ask }
  | { job: number; done: Results[JobKind] }
  | { job: number; failed: SentError };

/** The name of a job's error if a request failed; the main thread has the cause. */
export const askFailed = 'AskFailed';
/** The name of a stopped job's error. */
export const jobStopped = 'JobStopped';
