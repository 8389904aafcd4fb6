import { expect, jest, test } from '@jest/globals';
import { Lease } from '../src/lease.js';

test('a lease is over by the clock, also before its timer has had the time to say so', () => {
  let nowMs = 0;
  const lease = new Lease({
    heartbeat: () => Promise.reject(new Error('nothing is sent')),
    sentAtMs: 0,
    leaseMs: 15_000,
    heartbeatMs: 1_000,
    marginMs: 3_000,
    now: () => nowMs,
    isOver: () => false,
    onMissed: () => undefined,
    onLost: () => undefined,
  });
  expect(lease.held).toBe(true);
  nowMs = 11_999;
  expect(lease.held).toBe(true);
  nowMs = 12_000;
  expect(lease.held).toBe(false);
});

test('a lease is kept by its heartbeats, far beyond its length', async () => {
  jest.useFakeTimers({ now: 0 });
  try {
    let beats = 0;
    const lost: string[] = [];
    const lease = new Lease({
      heartbeat: () => {
        beats += 1;
        return Promise.resolve({ leaseMs: 15_000, cancel: false });
      },
      sentAtMs: 0,
      leaseMs: 15_000,
      heartbeatMs: 1_000,
      marginMs: 3_000,
      now: () => Date.now(),
      isOver: () => false,
      onMissed: () => undefined,
      onLost: (reason) => lost.push(reason),
    });
    lease.start();
    await jest.advanceTimersByTimeAsync(60_000);
    expect({ beats, lost, held: lease.held }).toEqual({ beats: 60, lost: [], held: true });
    await lease.stop();
  } finally {
    jest.useRealTimers();
  }
});

test('a lease that no heartbeat renews is lost before it is over, by its margin', async () => {
  jest.useFakeTimers({ now: 0 });
  try {
    const lost: [string, number][] = [];
    const lease = new Lease({
      heartbeat: () => new Promise(() => undefined),
      sentAtMs: 0,
      leaseMs: 15_000,
      heartbeatMs: 1_000,
      marginMs: 3_000,
      now: () => Date.now(),
      isOver: () => false,
      onMissed: () => undefined,
      onLost: (reason) => lost.push([reason, Date.now()]),
    });
    lease.start();
    await jest.advanceTimersByTimeAsync(15_000);
    expect(lost).toEqual([['fenced', 12_000]]);
  } finally {
    jest.useRealTimers();
  }
});
