import { SuzumioError } from '@suzumio/contract/errors/suzumio-error';
import type { Response } from 'express';

/** Made once, since every request ends with it: an error costs a stack trace. */
export const closed = new SuzumioError(
  'invalid-request',
  'The request is over: it was answered, or its sender has gone.',
);

/** Aborted when a request is answered, or its sender disconnects. */
export function closeOf(response: Response): AbortSignal {
  const over = new AbortController();
  response.once('close', () => over.abort(closed));
  if (response.destroyed) over.abort(closed);
  return over.signal;
}

/** How long a body holds its room: until its sender disconnects, or, once kept, until it is released. */
interface HeldRoom {
  /** Aborted when the room is released. */
  readonly until: AbortSignal;
  keep(): void;
  release(): void;
}

/** Room for a call that is finished even if its sender disconnects, and holds its memory until then. */
function roomOf(response: Response): HeldRoom {
  const gone = closeOf(response);
  const room = new AbortController();
  const release = () => room.abort();
  gone.addEventListener('abort', release);
  if (gone.aborted) release();
  return { until: room.signal, keep: () => gone.removeEventListener('abort', release), release };
}

/** Does what a request with a body asks for, and releases its room then. */
export async function inRoom(response: Response, work: (room: HeldRoom) => Promise<void>): Promise<void> {
  const room = roomOf(response);
  try {
    await work(room);
  } finally {
    room.release();
  }
}
