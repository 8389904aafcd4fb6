import { parentPort, workerData } from 'node:worker_threads';
import { inspectPack } from './inspect-pack.js';
import { PackInvalid } from './pack-invalid.js';

// The entry of the thread that a PackInspector starts for a pack.

/** What it answers: how many objects the pack has, or what is wrong with it. */
export type ThreadAnswer = { objects: number } | { invalid: string };

const { path } = workerData as { path: string };
parentPort?.postMessage(await answer());

async function answer(): Promise<ThreadAnswer> {
  try {
    return { objects: await inspectPack(path) };
  } catch (error) {
    if (error instanceof PackInvalid) return { invalid: error.message };
    throw error;
  }
}
