import { eventually } from '../../../../test/support/poll.js';

/** Says that something hangs, not that the machine is busy; and less than the 20 s after which a turn is ended anyway. */
const hangsMs = 15_000;

/** Waits until a condition holds; fails when it does not within a bound. */
export const until = (condition: () => boolean | Promise<boolean>, what: string, withinMs = hangsMs): Promise<void> =>
  eventually(what, condition, withinMs);
