import { parentPort, workerData } from 'node:worker_threads';
import { SnapshotInvalid } from '@suzumio/protocol/workspace-snapshot';
import { ContentStore } from '../content/content-store.js';
import { storedManifest } from '../content/stored-snapshot.js';
import { carryOut, type SnapshotJob } from './snapshot-job.js';
import type { ThreadAnswer } from './snapshots.js';

// The entry of the thread that Snapshots starts for a job.

const { projectDir, job } = workerData as { projectDir: string; job: SnapshotJob };
parentPort?.postMessage(await answerOf());

async function answerOf(): Promise<ThreadAnswer> {
  const content = new ContentStore(projectDir);
  // Few manifests can describe many directories: each is read once.
  const manifests = new Map<string, Promise<Uint8Array>>();
  const read = (sha256: string) => {
    const manifest = manifests.get(sha256) ?? storedManifest(content, sha256);
    manifests.set(sha256, manifest);
    return manifest;
  };
  try {
    return { result: await carryOut(job, read) };
  } catch (error) {
    if (error instanceof SnapshotInvalid) return { invalid: error.message };
    throw error;
  }
}
