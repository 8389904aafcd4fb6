import { eventually } from '../../../../test/support/poll.js';

/** Waits until a condition holds. */
export const until = (
  condition: () => boolean | Promise<boolean>,
  what: string,
  how: Parameters<typeof eventually>[2] = {},
): Promise<void> => eventually(what, condition, how);
