import { readFileSync } from 'node:fs';
import { parentPort, workerData } from 'node:worker_threads';
import { inspectPack, PackInvalid } from './inspect-pack.js';

// The entry of the thread that a PackInspector starts for a pack.

/** What it answers: how many objects the pack has, or what is wrong with it. */
export type ThreadAnswer = { objects: number } | { invalid: string };

const { path } = workerData as { path: string };
parentPort?.postMessage(answerOf());

function answerOf(): ThreadAnswer {
  try {
    return { objects: inspectPack(readFileSync(path)) };
  } catch (error) {
    if (error instanceof PackInvalid) return { invalid: error.message };
    throw error;
  }
}
