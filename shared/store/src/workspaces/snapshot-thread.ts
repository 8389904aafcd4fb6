import { parentPort, workerData } from 'node:worker_threads';
import { maxWorkspaceManifestBytes } from '@suzumio/protocol/workspace-manifest';
import { SnapshotInvalid } from '@suzumio/protocol/workspace-snapshot';
import { ContentStore } from '../content/content-store.js';
import { storedManifest } from '../content/stored-snapshot.js';
import { carryOut, type SnapshotJob } from './snapshot-job.js';
import type { ThreadAnswer } from './snapshots.js';

// The entry of the thread that Snapshots starts for a job.

/** How many bytes of manifests a job reads: as many as two workspaces can have, with the longest names and links. */
const mostBytes = 4 * maxWorkspaceManifestBytes;
/** How many of them it keeps: few manifests can describe many directories. */
const mostKeptBytes = 8 * 1024 * 1024;

const { projectDir, job } = workerData as { projectDir: string; job: SnapshotJob };
const content = new ContentStore(projectDir);
const kept = new Map<string, Uint8Array>();
let readBytes = 0;
let keptBytes = 0;
let last: Promise<unknown> = Promise.resolve();
parentPort?.postMessage(await answer());

async function answer(): Promise<ThreadAnswer> {
  try {
    return { result: await carryOut(job, inTurn) };
  } catch (error) {
    if (error instanceof SnapshotInvalid) return { invalid: error.message };
    throw error;
  }
}

/** One after the other: some long ones at a time would be more than the process has. */
function inTurn(sha256: string): Promise<Uint8Array> {
  const manifest = last.then(() => kept.get(sha256) ?? read(sha256));
  last = manifest.catch(() => undefined);
  return manifest;
}

async function read(sha256: string): Promise<Uint8Array> {
  const manifest = await storedManifest(content, sha256, (sizeBytes) => {
    readBytes += sizeBytes;
    if (readBytes > mostBytes) throw new SnapshotInvalid('The snapshots are larger than workspaces may be.');
  });
  if (keptBytes + manifest.length > mostKeptBytes) return manifest;
  keptBytes += manifest.length;
  kept.set(sha256, manifest);
  return manifest;
}
