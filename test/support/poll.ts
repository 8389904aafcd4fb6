import { setTimeout as sleep } from 'node:timers/promises';
import { inspect } from 'node:util';

/**
 * Says that something hangs, not that the machine is busy; Jest's bound for a test leaves time to say so. Beside a planted
 * flaw a hang is expected, and nothing else runs.
 */
const hangsMs = process.env['SUZUMIO_TEST_FIRST_FAILURE'] === 'true' ? 45_000 : 300_000;
/** Longer than any page takes on a busy machine. */
const soonMs = 60_000;
const shownWithinMs = 10_000;
const mostShown = 4_000;
const shortestPauseMs = 5;
const longestPauseMs = 200;

interface Waiting {
  /** Returns what the failure is to print: the state of what was waited for, or its output. */
  show?: (() => unknown) | undefined;
}

type Condition = () => boolean | Promise<boolean>;

/**
 * Waits until `condition` holds. Fails when it hangs, with `what` and the last state; an error of `condition` fails at
 * once. Looking takes little of the machine from what is looked at: the pauses are longer than the looks, and become
 * longer with the wait.
 */
export const eventually = (what: string, condition: Condition, waiting: Waiting = {}): Promise<void> =>
  heldWithin(hangsMs, what, condition, waiting);

/** Waits until expectations hold, and fails as they do in the end. For what a page shows a moment later. */
export async function soon(expectations: () => Promise<void> | void, withinMs = soonMs): Promise<void> {
  let found: unknown;
  const hold = async () => {
    try {
      await expectations();
      return true;
    } catch (error) {
      found = error;
      return false;
    }
  };
  await heldWithin(withinMs, 'expectations hold', hold, {}).catch((late: unknown) => {
    throw found ?? late;
  });
}

/** The same with another bound, for the tests of it. */
export async function heldWithin(ms: number, what: string, condition: Condition, { show }: Waiting): Promise<void> {
  const started = performance.now();
  const ended = new AbortController();
  const over = sleep(ms, false, { signal: ended.signal }).catch(() => false);
  try {
    for (;;) {
      const looked = performance.now();
      // A condition that does not answer hangs, too.
      if (await Promise.race([condition(), over])) return;
      const now = performance.now();
      if (now >= started + ms) throw new Error(`not within ${String(ms)} ms: ${what}${await shown(show)}`);
      const pauseMs = Math.max((now - started) / 20, 4 * (now - looked), shortestPauseMs);
      await sleep(Math.min(pauseMs, longestPauseMs));
    }
  } finally {
    ended.abort();
  }
}

/** The beginning of a state, or the end of an output. */
async function shown(show: Waiting['show']): Promise<string> {
  if (!show) return '';
  const ended = new AbortController();
  const silent = sleep(shownWithinMs, 'nothing: it does not answer', { signal: ended.signal });
  const state = await Promise.race([Promise.resolve().then(show), silent]).catch((error: unknown) => error);
  ended.abort();
  if (typeof state === 'string') return `; last seen:\n${state.slice(-mostShown)}`;
  return `; last seen:\n${inspect(state, { depth: 6, breakLength: 120 }).slice(0, mostShown)}`;
}
