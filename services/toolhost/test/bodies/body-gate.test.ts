import { describe, expect, test } from '@jest/globals';
import { BodyGate, type BodyRoom } from '../../src/bodies/body-gate.js';

const limits = { attemptBytes: 10, totalBytes: 40, attemptRequests: 4 };

/** A request at the gate: whether it was let in, and its end. */
async function request(gate: BodyGate, attempt: string, bytes: number, project = `project of ${attempt}`) {
  const over = new AbortController();
  const state = { admitted: false, failed: undefined as unknown };
  let room: BodyRoom | undefined;
  const entering = gate.enter({ project, attempt }, bytes, over.signal).then(
    (entered) => {
      room = entered;
      state.admitted = true;
    },
    (error: unknown) => (state.failed = error),
  );
  await settled();
  return {
    state,
    async shrinkTo(needed: number) {
      room?.shrinkTo(needed);
      await settled();
    },
    async end() {
      over.abort();
      await entering;
      await settled();
    },
  };
}

const settled = () => new Promise((resolve) => setImmediate(resolve));

describe('room', () => {
  test('of an attempt is no more than one attempt may have, and its next request waits', async () => {
    const gate = new BodyGate(limits);
    const first = await request(gate, 'a', 8);
    const second = await request(gate, 'a', 8);
    expect([first.state.admitted, second.state.admitted]).toEqual([true, false]);
    await first.end();
    expect(second.state.admitted).toBe(true);
    expect(gate.bytes).toBe(8);
  });

  test('is given past a request that waits for its own attempt', async () => {
    const gate = new BodyGate(limits);
    await request(gate, 'a', 10);
    const waits = await request(gate, 'a', 10);
    const other = await request(gate, 'b', 10);
    expect([waits.state.admitted, other.state.admitted]).toEqual([false, true]);
  });

  test('of a project is no more than one project may have, however many attempts it has', async () => {
    const gate = new BodyGate(limits);
    const first = await request(gate, 'a', 10, 'loud');
    await request(gate, 'b', 10, 'loud');
    const waits = await request(gate, 'c', 5, 'loud');
    const other = await request(gate, 'd', 5, 'quiet');
    expect([waits.state.admitted, other.state.admitted]).toEqual([false, true]);
    await first.end();
    expect(waits.state.admitted).toBe(true);
  });

  test('of a project is half of what the others leave, and what one attempt may have in any case', async () => {
    const gate = new BodyGate({ ...limits, totalBytes: 80 });
    const admitted = async (project: string) => {
      const asked = await Promise.all(
        Array.from({ length: 10 }, (_, number) => request(gate, `${project} ${String(number)}`, 5, project)),
      );
      return 5 * asked.filter(({ state }) => state.admitted).length;
    };
    expect([await admitted('a'), await admitted('b'), await admitted('c'), await admitted('d')]).toEqual([
      40, 20, 10, 10,
    ]);
  });

  test('that becomes free goes to the project that has least, whatever others asked for before', async () => {
    const gate = new BodyGate({ ...limits, totalBytes: 30 });
    const held = await request(gate, 'a1', 5, 'a');
    await request(gate, 'a2', 5, 'a');
    await request(gate, 'b1', 10, 'b');
    await request(gate, 'c1', 10, 'c');
    const waits = await Promise.all(['a3', 'a4', 'a5'].map((attempt) => request(gate, attempt, 5, 'a')));
    const late = await request(gate, 'd1', 5, 'd');
    await held.end();
    expect([late, ...waits].map(({ state }) => state.admitted)).toEqual([true, false, false, false]);
  });

  test('of all is kept for whom it is free next, so that no long body waits for ever behind short ones', async () => {
    const gate = new BodyGate({ ...limits, totalBytes: 25 });
    const first = await request(gate, 'a', 10);
    await request(gate, 'b', 10);
    const long = await request(gate, 'c', 10);
    const short = await request(gate, 'd', 1);
    expect([long.state.admitted, short.state.admitted]).toEqual([false, false]);
    await first.end();
    expect([long.state.admitted, short.state.admitted]).toEqual([true, true]);
  });

  test('that a body turns out not to need is given to the next', async () => {
    const gate = new BodyGate(limits);
    const first = await request(gate, 'a', 10);
    const second = await request(gate, 'a', 8);
    expect(second.state.admitted).toBe(false);
    await first.shrinkTo(2);
    expect(second.state.admitted).toBe(true);
    await first.end();
    await second.end();
    expect(gate.bytes).toBe(0);
  });

  test('is given back, and asked for no more, by a request that has gone', async () => {
    const gate = new BodyGate(limits);
    const first = await request(gate, 'a', 10);
    const waits = await request(gate, 'a', 10);
    await waits.end();
    expect(waits.state.failed).toBeDefined();
    await first.end();
    expect(gate.bytes).toBe(0);
    expect((await request(gate, 'a', 10)).state.admitted).toBe(true);
  });
});

test('an attempt with too many requests under way is told to come again, and others are let in', async () => {
  const gate = new BodyGate(limits);
  const first = await request(gate, 'a', 1);
  for (let more = 0; more < 3; more += 1) await request(gate, 'a', 1);
  expect((await request(gate, 'a', 1)).state.failed).toMatchObject({
    code: 'attempt-busy',
    status: 503,
    retryable: true,
    details: { retryAfterSeconds: 1 },
  });
  expect((await request(gate, 'b', 1)).state.admitted).toBe(true);
  await first.end();
  expect((await request(gate, 'a', 1)).state.admitted).toBe(true);
});
