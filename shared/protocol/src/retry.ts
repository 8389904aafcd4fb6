/** Delays that grow: each is twice the one before, up to `longestDelayMs`. */
export interface BackOff {
  readonly firstDelayMs: number;
  readonly longestDelayMs: number;
}

/** How an operation is retried. */
export interface RetryOptions extends BackOff {
  /** Whether a retry may help; any other error is thrown at once. @default all of them */
  readonly isRetryable?: (error: unknown) => boolean;
  /** How long after the first failure the last try may begin. @default no limit */
  readonly patienceMs?: number;
  /** Ends the delays. A running try must observe it itself. */
  readonly signal?: AbortSignal | undefined;
  /** Called for each failure that is retried, with the number of failures so far. */
  readonly onFailure?: (error: unknown, failures: number) => void;
}

/**
 * Tries `operation` until it succeeds, with exponential back-off and jitter.
 *
 * @throws the last try's error, or the reason of `signal` where that ended the delay after it
 */
export async function retry<Result>(operation: () => Promise<Result>, options: RetryOptions): Promise<Result> {
  const { isRetryable = () => true, patienceMs = Infinity, signal, onFailure } = options;
  const wait = backOff(options, signal);
  let deadlineMs: number | undefined;
  for (let failures = 1; ; failures += 1) {
    try {
      return await operation();
    } catch (error) {
      if (!isRetryable(error)) throw error;
      const now = performance.now();
      deadlineMs ??= now + patienceMs;
      const leftMs = deadlineMs - now;
      if (leftMs <= 0) throw error;
      onFailure?.(error, failures);
      await wait(leftMs);
      signal?.throwIfAborted();
    }
  }
}

/**
 * Returns a function that waits longer each time it is called, for `mostMs` at most; an aborted signal ends the delay.
 */
export function backOff(
  { firstDelayMs, longestDelayMs }: BackOff,
  signal?: AbortSignal,
): (mostMs?: number) => Promise<void> {
  let nextMs = firstDelayMs;
  return async (mostMs = Infinity) => {
    // Jitter: clients that lost the same server should not return all at once.
    const delayMs = Math.min(nextMs * (0.5 + Math.random() / 2), mostMs);
    nextMs = Math.min(2 * nextMs, longestDelayMs);
    await delay(delayMs, signal);
  };
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
