import { type ResourceLimits, Worker } from 'node:worker_threads';

/**
 * Runs a thread to its first message, which is its answer. Nothing of the thread is left then: the next one has its memory.
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
    let hasAnswered = false;
    thread.once('message', (answer: Answer) => {
      hasAnswered = true;
      thread.terminate().then(() => resolve(answer), reject);
    });
    thread.on('error', reject);
    thread.on('exit', (code) => {
      if (!hasAnswered) reject(new Error(`The thread ${entry.pathname} ended with ${code} and no answer.`));
    });
  });
}
