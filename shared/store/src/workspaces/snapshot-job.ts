import {
  directoriesOf,
  type OpenedDirectory,
  openSnapshot,
  readSnapshot,
  type SnapshotDirectory,
} from '@suzumio/protocol/workspace-snapshot';
import { type ChangedArtifact, changedArtifacts } from './changed-artifacts.js';
import { type Comparison, type ComparisonPage, compareSnapshots } from './compare-snapshots.js';
import { type Found, lookInto } from './look-into.js';

/** Reads of snapshots; null is an empty workspace. */
export interface SnapshotJobs {
  compare: { before: string | null; after: string | null; page: ComparisonPage };
  /** The hashes of everything in it. */
  contents: { snapshot: string | null };
  /** What is to be published of an agent's own artifacts. */
  artifacts: { before: string | null; after: string | null };
  look: { snapshot: string | null; path: string; limit: number; after?: string | undefined };
}

export interface SnapshotResults {
  compare: Comparison;
  contents: string[];
  artifacts: ChangedArtifact[];
  look: Found | undefined;
}

export type SnapshotJob = { [Kind in keyof SnapshotJobs]: { kind: Kind } & SnapshotJobs[Kind] }[keyof SnapshotJobs];

/** @param read the manifest with this hash */
export async function carryOut(
  job: SnapshotJob,
  read: (sha256: string) => Promise<Uint8Array>,
): Promise<SnapshotResults[keyof SnapshotResults]> {
  const open = async (id: string | null): Promise<OpenedDirectory | undefined> =>
    id === null ? undefined : openSnapshot(id, read);
  if (job.kind === 'contents') return job.snapshot === null ? [] : contentsOf(await readSnapshot(job.snapshot, read));
  if (job.kind === 'look') return lookInto(await open(job.snapshot), job.path, job);
  if (job.kind === 'artifacts') return changedArtifacts(await open(job.before), await open(job.after));
  return compareSnapshots(await open(job.before), await open(job.after), job.page);
}

function contentsOf(root: SnapshotDirectory): string[] {
  const hashes = [...directoriesOf(root)].flatMap(({ sha256, entries }) => [
    ...(sha256 === undefined ? [] : [sha256]),
    ...entries.flatMap((entry) => (entry.kind === 'file' ? [entry.sha256] : [])),
  ]);
  return [...new Set(hashes)];
}
