/** Says that something hangs, not that the machine is busy; and less than the 25 s that a handler's claim waits. */
const hangsMs = 20_000;

/** Waits until `condition` holds, and fails with `what` when it does not within the bound. */
export async function eventually(
  what: string,
  condition: () => boolean | Promise<boolean>,
  withinMs = hangsMs,
): Promise<void> {
  const deadline = performance.now() + withinMs;
  while (!(await condition())) {
    if (performance.now() > deadline) throw new Error(`not within ${withinMs} ms: ${what}`);
    await new Promise((resolve) => setTimeout(resolve, 5));
  }
}
