import type { TurnJob } from '@suzumio/protocol/turn-job';
import type { Transport } from '@suzumio/runtime/queue/transport';

/** A turn job; `n` makes its turn's id. */
export function turnJob(n: number, change: Partial<TurnJob> = {}): TurnJob {
  const turn = `turn_${String(n).padStart(26, '0')}`;
  return { cell: 'main', project: 'newsroom', epoch: 1, turn, delivery: 1, priority: 'P1', ...change };
}

/** A promise and the function that resolves it. */
export function gate(): { opened: Promise<void>; open: () => void } {
  let open: () => void = () => undefined;
  const opened = new Promise<void>((resolve) => {
    open = resolve;
  });
  return { opened, open: () => open() };
}

/** A handler that notes what it gets, as `of` sees it, in `list`. */
export function noteIn<T, N>(list: N[], of: (item: T) => N): (item: T) => Promise<void> {
  return (item) => {
    list.push(of(item));
    return Promise.resolve();
  };
}

/** Slots of all workers that live. */
export async function fleetSlots(transport: Transport): Promise<number> {
  return (await transport.fleet()).reduce((total, { slots }) => total + slots, 0);
}
