import { HttpUnavailable } from '@suzumio/protocol/http-failures';
import { delay } from '@suzumio/protocol/retry';
import { messageOf, TurnLost } from './errors.js';
import type { Http } from './http.js';
import type { ClaimedTurn, HeartbeatAnswer } from './wire.js';

/** How long before a lease ends the turn is given up, by our own clock, and how often it is extended. */
const mostBeatMs = 3_000;

/** The hold on one turn. */
export interface Lease {
  /** Aborted, with a {@link TurnLost}, once the turn is somebody else's or nobody's. */
  readonly signal: AbortSignal;
  /** Aborted once it is lost or released: nobody asks for anything in its name any more. */
  readonly over: AbortSignal;
  /** Gives the turn up. */
  lose(reason: string): void;
  /** Ends the heartbeats. */
  release(): Promise<void>;
}

export function attemptPath({ project, id, attempt }: ClaimedTurn): string {
  return `/projects/${project}/turns/${id}/attempts/${String(attempt)}`;
}

/** Keeps a turn by heartbeats, the first at once, until it is released or lost. */
export function keepLease(http: Http, turn: ClaimedTurn): Lease {
  const lost = new AbortController();
  const released = new AbortController();
  const over = AbortSignal.any([lost.signal, released.signal]);
  const beatMs = Math.min(turn.leaseMs / 5, mostBeatMs);
  let deadlineMs = performance.now() + turn.leaseMs;
  const lose = (reason: string) => {
    if (!over.aborted) lost.abort(new TurnLost(reason));
  };

  async function beat(): Promise<void> {
    const askedAtMs = performance.now();
    const leftMs = deadlineMs - beatMs - askedAtMs;
    if (leftMs <= 0) {
      lose('The ToolHost did not answer for as long as the lease was good.');
      return;
    }
    // A heartbeat that hangs must leave time for another one.
    const timeoutMs = Math.min(leftMs, Math.max(beatMs, leftMs / 3));
    try {
      const answer = await http.ask<HeartbeatAnswer>(
        { method: 'POST', path: `${attemptPath(turn)}/heartbeat`, token: turn.leaseToken, timeoutMs },
        over,
      );
      if (answer.cancel) lose('The turn was ended: it was cancelled, took too long, or its lease ran out.');
      else deadlineMs = askedAtMs + answer.leaseMs;
    } catch (error) {
      if (!(error instanceof HttpUnavailable)) lose(messageOf(error));
    }
  }

  async function beats(): Promise<void> {
    for (;;) {
      if (over.aborted) return;
      await beat();
      await delay(beatMs, over);
    }
  }

  const ended = beats();
  return {
    signal: lost.signal,
    over,
    lose,
    async release() {
      released.abort(new TurnLost('The turn has ended.'));
      await ended;
    },
  };
}
