import { setTimeout as sleep } from 'node:timers/promises';

/** Says that something hangs, not that the machine is busy; and less than the 20 s after which a turn is ended anyway. */
const hangsMs = 15_000;

/** Waits until a condition holds; fails when it does not within a bound. */
export async function until(
  condition: () => boolean | Promise<boolean>,
  what: string,
  withinMs = hangsMs,
): Promise<void> {
  const giveUpAt = performance.now() + withinMs;
  while (!(await condition())) {
    if (performance.now() > giveUpAt) throw new Error(`waited ${withinMs} ms in vain for ${what}`);
    await sleep(20);
  }
}
