import type { Response } from 'express';

/** Aborted when a request is answered, or whoever sent it has gone. */
export function closeOf(response: Response): AbortSignal {
  const over = new AbortController();
  response.once('close', () => over.abort());
  if (response.destroyed) over.abort();
  return over.signal;
}
