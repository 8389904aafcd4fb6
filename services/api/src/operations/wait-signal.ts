import type { Response } from 'express';

/** Aborted when a wait is over: its client has gone, may not ask any more, or has been kept waiting long enough. */
export function waitSignal(response: Response, allowed: AbortSignal, timeoutMs: number): AbortSignal {
  const gone = new AbortController();
  response.once('close', () => gone.abort());
  return AbortSignal.any([gone.signal, allowed, AbortSignal.timeout(timeoutMs)]);
}
