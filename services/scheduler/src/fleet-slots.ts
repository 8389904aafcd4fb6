import type { Transport } from '@suzumio/shared/queue/transport';

/** The fleet changes slowly; to know it a second late does no harm. */
const rememberedMs = 1_000;

/** How many turns the fleet can run at once, asked of the transport once a second at most. */
export function createFleetSlots(transport: Transport, monotonicMs: () => number): () => Promise<number> {
  let known = { slots: 0, atMs: -Infinity };
  return async () => {
    // A fleet that nobody has heard of yet is asked for every time: its first worker should not wait.
    if (known.slots === 0 || monotonicMs() - known.atMs > rememberedMs) {
      known = { slots: await transport.fleetSlots(), atMs: monotonicMs() };
    }
    return known.slots;
  };
}
