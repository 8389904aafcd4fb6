import { describe, expect, test } from '@jest/globals';
import { silentLogger } from '@suzumio/runtime/observability/logger';
import { presenceMs } from '@suzumio/runtime/queue/jobs';
import { createInProcessTransport } from '@suzumio/runtime/queue/in-process-transport';
import { fleetSlots, noteIn } from './jobs.js';
import { transportContract } from './transport-contract.js';

describe('the in-process transport', () => {
  transportContract(() => createInProcessTransport({ logger: silentLogger() }));

  test('a worker that says nothing more is forgotten', async () => {
    let now = 0;
    const transport = createInProcessTransport({ logger: silentLogger(), nowMs: () => now });
    await transport.announce({ worker: 'one', slots: 2 });
    now = presenceMs - 1;
    expect(await fleetSlots(transport)).toBe(2);
    now = presenceMs;
    expect(await fleetSlots(transport)).toBe(0);
    await transport.close();
  });

  test('a wake does not run its handler before it returns', async () => {
    const transport = createInProcessTransport({ logger: silentLogger() });
    const order: string[] = [];
    transport.consumeWakes(noteIn(order, () => 'handled'));
    transport.wake('newsroom');
    order.push('returned');
    await transport.close();
    expect(order[0]).toBe('returned');
  });
});
