import { setTimeout as sleep } from 'node:timers/promises';

/** Says that something hangs, not that the machine is busy; and less than the 25 s that a handler's claim waits. */
const hangsMs = 20_000;
const shortestPauseMs = 5;
const longestPauseMs = 200;

/**
 * Waits until `condition` holds, and fails with `what` when it does not within the bound. Looking takes little of the
 * machine from what is looked at: the pauses are longer than the looks, and become longer with the wait.
 */
export async function eventually(
  what: string,
  condition: () => boolean | Promise<boolean>,
  withinMs = hangsMs,
): Promise<void> {
  const started = performance.now();
  for (;;) {
    const looked = performance.now();
    if (await condition()) return;
    const now = performance.now();
    if (now > started + withinMs) throw new Error(`not within ${withinMs} ms: ${what}`);
    const pauseMs = Math.max((now - started) / 20, 4 * (now - looked), shortestPauseMs);
    await sleep(Math.min(pauseMs, longestPauseMs));
  }
}
