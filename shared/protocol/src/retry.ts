/** How an operation is tried again. */
export interface RetryOptions {
  /** The delay after the first failure. Each delay is twice the one before, up to `longestDelayMs`. */
  readonly firstDelayMs: number;
  readonly longestDelayMs: number;
  /** Whether another try may help; any other error is thrown at once. @default all of them */
  readonly isRetryable?: (error: unknown) => boolean;
  /** How long after the first failure the last try may begin. @default no limit */
  readonly patienceMs?: number;
  /** Ends the delays. A try that is under way has to heed it by itself. */
  readonly signal?: AbortSignal | undefined;
  /** Told of each failure that is followed by another try, and how many there have been. */
  readonly onFailure?: (error: unknown, failures: number) => void;
}

/**
 * Tries `operation` until it succeeds, with exponential back-off and jitter.
 *
 * @throws what the last try threw, or the reason of `signal` where that ended the delay after it
 */
export async function retry<Result>(operation: () => Promise<Result>, options: RetryOptions): Promise<Result> {
  const { firstDelayMs, longestDelayMs, isRetryable = () => true, patienceMs = Infinity, signal, onFailure } = options;
  let deadlineMs: number | undefined;
  for (let failures = 1, delayMs = firstDelayMs; ; failures += 1, delayMs = Math.min(2 * delayMs, longestDelayMs)) {
    try {
      return await operation();
    } catch (error) {
      if (!isRetryable(error)) throw error;
      const now = performance.now();
      deadlineMs ??= now + patienceMs;
      const leftMs = deadlineMs - now;
      if (leftMs <= 0) throw error;
      onFailure?.(error, failures);
      // Jitter: clients that lost the same server do not come back all at once.
      await delay(Math.min(delayMs * (0.5 + Math.random() / 2), leftMs), signal);
      signal?.throwIfAborted();
    }
  }
}

/** Resolves after a time, or as soon as the signal is aborted. */
export function delay(ms: number, signal?: AbortSignal): Promise<void> {
  return new Promise((resolve) => {
    const end = () => {
      clearTimeout(timer);
      signal?.removeEventListener('abort', end);
      resolve();
    };
    const timer = setTimeout(end, ms);
    signal?.addEventListener('abort', end);
    if (signal?.aborted) end();
  });
}
