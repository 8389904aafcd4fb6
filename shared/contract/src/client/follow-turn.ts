import type { LiveFrame } from '@suzumio/protocol/live';
import type { LiveEnd } from '../operations/turns.js';
import type { Client } from './client.js';
import { messagesIn } from './event-stream.js';

export interface FollowTurn {
  readonly project: string;
  /** Its id, or `agent:number`. */
  readonly turn: string;
  readonly signal?: AbortSignal;
}

/**
 * What a turn does while it does it, over one connection: from now on, until its attempt is over.
 *
 * @returns how that ended; undefined where the server ended the stream before
 * @throws SuzumioError when the server refuses, as with `live-unavailable`, or the connection is lost
 */
export async function* followTurn(
  api: Pick<Client, 'followTurn'>,
  { project, turn, signal }: FollowTurn,
): AsyncGenerator<LiveFrame, LiveEnd | undefined, undefined> {
  const silence = new AbortController();
  const chunks = await api.followTurn(
    { project, turn },
    { signal: signal ? AbortSignal.any([silence.signal, signal]) : silence.signal },
  );
  for await (const { type, data } of messagesIn(chunks, silence)) {
    if (type === 'end') return data as LiveEnd;
    // Kinds of a newer server are passed on.
    if (type === 'live') yield data as LiveFrame;
  }
  return undefined;
}
