import { Server } from 'node:http';
import { jest } from '@jest/globals';

// That something does not have to wait for its bound is told by taking the bound away: then it ends by itself or not at
// all, however fast the machine is.

/** Runs what sets timers, and lets none that is set for so many milliseconds or more come. */
export async function withoutTimers(ms: number, run: () => Promise<unknown>): Promise<void> {
  const { setTimeout } = globalThis;
  const timeout = AbortSignal.timeout.bind(AbortSignal);
  const later = (afterMs: number) => (afterMs >= ms ? 600_000 : afterMs);
  const set = (callback: () => void, afterMs = 0) => setTimeout(callback, later(afterMs));
  const timers = jest.spyOn(globalThis, 'setTimeout').mockImplementation(set);
  const signals = jest.spyOn(AbortSignal, 'timeout').mockImplementation((afterMs) => timeout(later(afterMs)));
  try {
    await run();
  } finally {
    timers.mockRestore();
    signals.mockRestore();
  }
}

/** Runs what stops a server, and lets it cut no connection meanwhile. */
export async function uncut(stop: () => Promise<unknown>): Promise<void> {
  const cut = jest.spyOn(Server.prototype, 'closeAllConnections').mockReturnValue(undefined);
  try {
    await stop();
  } finally {
    cut.mockRestore();
  }
}
