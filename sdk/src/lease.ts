import { Lease as HeldLease } from '@suzumio/protocol/lease';
import { messageOf, SuzumioError, TurnLost } from './errors.js';
import type { Http } from './http.js';
import type { ClaimedTurn, HeartbeatAnswer } from './wire.js';

const longestHeartbeatMs = 3_000;

/** The hold on one turn. */
export interface Lease {
  /** Aborted, with a {@link TurnLost}, once the turn is lost. */
  readonly signal: AbortSignal;
  /** Aborted once it is lost or released: no more requests are made for it. */
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
  const lose = (reason: string) => {
    if (!over.aborted) lost.abort(new TurnLost(reason));
  };
  const heartbeatMs = Math.min(turn.leaseMs / 5, longestHeartbeatMs);
  const beat = { method: 'POST', path: `${attemptPath(turn)}/heartbeat`, token: turn.leaseToken } as const;
  const lease = new HeldLease({
    heartbeat: (timeoutMs, signal) =>
      http.ask<HeartbeatAnswer>({ ...beat, timeoutMs }, AbortSignal.any([signal, over])),
    sentAtMs: performance.now(),
    leaseMs: turn.leaseMs,
    heartbeatMs,
    beatsAtOnce: true,
    marginMs: heartbeatMs,
    now: () => performance.now(),
    isOver: (error) => error instanceof SuzumioError,
    onMissed: () => undefined,
    onLost: (reason, error) => lose(error === undefined ? losses[reason] : messageOf(error)),
  });
  lease.start();
  return {
    signal: lost.signal,
    over,
    lose,
    async release() {
      released.abort(new TurnLost('The turn has ended.'));
      await lease.stop();
    },
  };
}

const losses = {
  cancelled: 'The turn was ended: it was cancelled, took too long, or its lease ran out.',
  fenced: 'The ToolHost did not answer for as long as the lease was good.',
};
