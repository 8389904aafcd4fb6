import type { Response } from 'express';

/** Aborted when a request is answered, or whoever sent it has gone. */
export function closeOf(response: Response): AbortSignal {
  const over = new AbortController();
  response.once('close', () => over.abort());
  if (response.destroyed) over.abort();
  return over.signal;
}

/** How long a body has its room: until its sender has gone, or, once it is kept, until it is released. */
export interface HeldRoom {
  /** Aborted when the room is given back. */
  readonly until: AbortSignal;
  keep(): void;
  release(): void;
}

/** Room of a question: it is finished though its sender has gone, and takes its memory until then. */
export function roomOf(response: Response): HeldRoom {
  const gone = closeOf(response);
  const room = new AbortController();
  const release = () => room.abort();
  gone.addEventListener('abort', release);
  if (gone.aborted) release();
  return { until: room.signal, keep: () => gone.removeEventListener('abort', release), release };
}
