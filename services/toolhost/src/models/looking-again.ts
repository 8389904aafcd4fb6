import { setTimeout as sleep } from 'node:timers/promises';

/** Whoever waits for others looks again after this, and less often the longer it takes. */
const lookAgainMs = { first: 200, most: 1_000 };

/** Waits longer each time. */
export function lookingAgain(): () => Promise<void> {
  let ms = lookAgainMs.first;
  return async () => {
    await sleep(ms);
    ms = Math.min(1.5 * ms, lookAgainMs.most);
  };
}
