import { setTimeout as sleep } from 'node:timers/promises';
import { inspect } from 'node:util';

/** Says that something hangs, not that the machine is busy; Jest's bound for a test leaves time to say so. */
export const hangsMs = 120_000;
const shownWithinMs = 10_000;
const mostShown = 4_000;
const shortestPauseMs = 5;
const longestPauseMs = 200;

interface Waiting {
  /** Returns what the failure is to print: the state of what was waited for, or its output. */
  show?: (() => unknown) | undefined;
}

/**
 * Waits until `condition` holds. Fails when it hangs, with `what` and the last state; an error of `condition` fails at
 * once. Looking takes little of the machine from what is looked at: the pauses are longer than the looks, and become
 * longer with the wait.
 */
export async function eventually(
  what: string,
  condition: () => boolean | Promise<boolean>,
  { show }: Waiting = {},
): Promise<void> {
  const started = performance.now();
  const ended = new AbortController();
  const hangs = sleep(hangsMs, 'hangs' as const, { signal: ended.signal }).catch(() => 'hangs' as const);
  try {
    for (;;) {
      const looked = performance.now();
      const seen = await Promise.race([condition(), hangs]);
      if (seen === true) return;
      if (seen === 'hangs') throw await hanging(what, show);
      const now = performance.now();
      const pauseMs = Math.max((now - started) / 20, 4 * (now - looked), shortestPauseMs);
      await sleep(Math.min(pauseMs, longestPauseMs));
    }
  } finally {
    ended.abort();
  }
}

/** The failure of a wait, with the beginning of a state, or the end of an output. */
export async function hanging(what: string, show: Waiting['show']): Promise<Error> {
  const sentence = `not within ${String(hangsMs)} ms: ${what}`;
  if (!show) return new Error(sentence);
  const ended = new AbortController();
  const silent = sleep(shownWithinMs, 'nothing: it does not answer', { signal: ended.signal });
  const state = await Promise.race([Promise.resolve().then(show), silent]).catch((error: unknown) => error);
  ended.abort();
  const text =
    typeof state === 'string'
      ? state.slice(-mostShown)
      : inspect(state, { depth: 6, breakLength: 120 }).slice(0, mostShown);
  return new Error(`${sentence}; last seen:\n${text}`);
}
