import { describe, expect, jest, test } from '@jest/globals';
import type { EventHint } from '@suzumio/runtime/queue/transport';
import { createInProcessTransport } from '@suzumio/runtime/queue/in-process-transport';
import { recordingLogger } from '../../../test/support/logs.js';
import { ClaimWaits } from '../src/claim-waits.js';

/** Longer than a test may take. */
const longMs = 600_000;
const claimOf = (claimId: string, project = 'team') => ({ project, token: 'tok_1', claimId });

function made() {
  const transport = createInProcessTransport({ logger: recordingLogger().logger });
  const clock = { ms: 0 };
  const waits = new ClaimWaits(transport, () => clock.ms);
  return { waits, transport, clock, hint: (hint: EventHint) => transport.hint(hint) };
}

describe('a claim that waits', () => {
  test('hears at once that something has happened in its project, and of no other', async () => {
    const { waits, hint } = made();
    const wait = await waits.begin(claimOf('a'));
    const other = await waits.begin(claimOf('b', 'other'));
    let heard = false;
    const ofOther = other.next(longMs).then(() => (heard = true));
    const waited = wait.next(longMs);
    hint({ project: 'team', seq: 1 });
    await waited;
    expect({ over: wait.over, heard }).toEqual({ over: false, heard: false });
    other.cancel();
    await ofOther;
  });

  test('misses nothing that happened while it looked', async () => {
    const { waits, hint } = made();
    const wait = await waits.begin(claimOf('a'));
    hint({ project: 'team', seq: 1 });
    // Hints are heard after whatever runs now.
    await new Promise((resolve) => setImmediate(resolve));
    await wait.next(longMs);
    await expect(Promise.race([wait.next(longMs), Promise.resolve('waits again')])).resolves.toBe('waits again');
    wait.cancel();
  });

  test('is called off by a second one of the same claim, which begins when the first has ended', async () => {
    const { waits } = made();
    const first = await waits.begin(claimOf('a'));
    const second = waits.begin(claimOf('a'));
    await first.next(longMs);
    expect(first.over).toBe(true);
    await expect(Promise.race([second, Promise.resolve('not yet')])).resolves.toBe('not yet');
    first.end();
    expect((await second).over).toBe(false);
    // Whoever was called off cannot call off the next.
    first.cancel();
    expect((await second).over).toBe(false);
  });

  test('is called off by its handler and by the end of the process', async () => {
    const { waits } = made();
    const [first, second] = [await waits.begin(claimOf('a')), await waits.begin(claimOf('b'))];
    waits.cancel(claimOf('a'));
    expect([first.over, second.over]).toEqual([true, false]);
    waits.close();
    expect(second.over).toBe(true);
    expect((await waits.begin(claimOf('c'))).over).toBe(true);
  });

  test('listens to nothing once the process stops', async () => {
    const { waits, transport } = made();
    const onHint = jest.spyOn(transport, 'onHint');
    waits.close();
    expect((await waits.begin(claimOf('a'))).over).toBe(true);
    expect(onHint).not.toHaveBeenCalled();
  });

  test('is refused beside too many of the same token', async () => {
    const { waits } = made();
    for (let n = 0; n < 64; n += 1) await waits.begin(claimOf(String(n)));
    await expect(waits.begin(claimOf('more'))).rejects.toMatchObject({ code: 'rate-limited' });
    await expect(waits.begin({ ...claimOf('more'), token: 'tok_2' })).resolves.toBeDefined();
  });
});

describe('a claim that arrives after its cancellation', () => {
  test('is cancelled, for a minute', async () => {
    const { waits, clock } = made();
    waits.cancel(claimOf('a'));
    clock.ms = 59_999;
    const late = await waits.begin(claimOf('a'));
    expect(late.over).toBe(true);
    late.end();
    clock.ms = 60_000;
    expect((await waits.begin(claimOf('a'))).over).toBe(false);
  });

  test('is cancelled also where an earlier request of it was there to be cancelled', async () => {
    const { waits } = made();
    const first = await waits.begin(claimOf('a'));
    waits.cancel(claimOf('a'));
    first.end();
    expect((await waits.begin(claimOf('a'))).over).toBe(true);
  });

  test('leaves claims of other tokens and projects alone', async () => {
    const { waits } = made();
    waits.cancel(claimOf('a'));
    expect((await waits.begin({ ...claimOf('a'), token: 'tok_2' })).over).toBe(false);
    expect((await waits.begin(claimOf('a', 'other'))).over).toBe(false);
  });

  test('is remembered beside the newest 63 of its token, and costs other tokens none of theirs', async () => {
    const { waits } = made();
    waits.cancel({ ...claimOf('a'), token: 'tok_2' });
    for (let n = 0; n < 65; n += 1) waits.cancel(claimOf(String(n)));
    const overOf = async (claim: Parameters<ClaimWaits['begin']>[0]) => (await waits.begin(claim)).over;
    expect(await overOf(claimOf('0'))).toBe(false);
    expect(await overOf(claimOf('1'))).toBe(true);
    expect(await overOf(claimOf('64'))).toBe(true);
    expect(await overOf({ ...claimOf('a'), token: 'tok_2' })).toBe(true);
  });
});
