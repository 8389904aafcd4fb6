import { type ResourceLimits, Worker } from 'node:worker_threads';

/**
 * Runs a thread to its first message, which is its answer.
 *
 * @throws what the thread throws; an error where it ends without an answer
 */
export function threadAnswer<Answer>(
  entry: URL,
  workerData: unknown,
  resourceLimits: ResourceLimits = {},
): Promise<Answer> {
  return new Promise((resolve, reject) => {
    const thread = new Worker(entry, { workerData, resourceLimits });
    thread.on('message', resolve);
    thread.on('error', reject);
    thread.on('exit', (code) => reject(new Error(`The thread ${entry.pathname} ended with ${code} and no answer.`)));
  });
}
