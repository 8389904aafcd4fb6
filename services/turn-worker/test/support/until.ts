import { setTimeout as sleep } from 'node:timers/promises';

/** Waits until a condition holds; fails when it does not within a bound. */
export async function until(
  condition: () => boolean | Promise<boolean>,
  withinMs: number,
  what: string,
): Promise<void> {
  const giveUpAt = performance.now() + withinMs;
  while (!(await condition())) {
    if (performance.now() > giveUpAt) throw new Error(`waited ${withinMs} ms in vain for ${what}`);
    await sleep(20);
  }
}
