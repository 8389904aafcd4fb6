import { AttemptFailure } from '../engine/attempt-failure.js';

export interface InTimeOptions {
  /** The longest time that the work may take, in milliseconds. */
  mostMs: number;
  /** Ends the work sooner. */
  signal: AbortSignal;
  /** What is said of work that took longer. */
  late: string;
}

/**
 * Runs work whose signal is aborted after a time.
 *
 * @throws AttemptFailure `repository-unavailable` where it ended for that; what `work` throws
 */
export async function inTime<Result>(
  { mostMs, signal, late }: InTimeOptions,
  work: (signal: AbortSignal) => Promise<Result>,
): Promise<Result> {
  const over = AbortSignal.timeout(mostMs);
  try {
    return await work(AbortSignal.any([signal, over]));
  } catch (error) {
    if (over.aborted && error === over.reason) throw new AttemptFailure('repository-unavailable', late);
    throw error;
  }
}

/** Waits for a promise that does not reject. @throws what `signal` was aborted with, at once */
export async function unlessAborted(signal: AbortSignal, settled: Promise<void>): Promise<void> {
  signal.throwIfAborted();
  const aborted = Promise.withResolvers<never>();
  const onAbort = () => aborted.reject(signal.reason as Error);
  signal.addEventListener('abort', onAbort);
  try {
    await Promise.race([settled, aborted.promise]);
  } finally {
    signal.removeEventListener('abort', onAbort);
  }
}
