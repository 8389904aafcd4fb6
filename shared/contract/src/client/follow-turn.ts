import type { LiveFrame as Frame } from '@suzumio/protocol/live';
import type { Client } from './client.js';
import { messagesIn } from './event-stream.js';

// Plain types, which a package without zod can have.

/**
 * What a turn does now: text of its model's answer to a step's question, or what a command of a step prints. A `gap` says how
 * many bytes are left out there; 0 where nobody knows.
 */
export type LiveFrame =
  | { readonly kind: 'model'; readonly step: string; readonly text: string }
  | { readonly kind: 'output'; readonly step: string; readonly stream: 'stdout' | 'stderr'; readonly text: string }
  | { readonly kind: 'gap'; readonly bytes: number };

/** How an attempt ended, and what became of its turn: `queued` or `running` when it goes on with another attempt. */
export interface LiveEnd {
  readonly attempt: number;
  readonly status: 'queued' | 'running' | 'completed' | 'failed' | 'cancelled';
}

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
    if (type === 'live') yield data as Frame;
  }
  return undefined;
}
