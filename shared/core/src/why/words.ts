/** `1 turn`, `2 turns`. */
export function plural(amount: number, noun: string): string {
  return `${amount} ${noun}${amount === 1 ? '' : 's'}`;
}

/** A length of time, roughly: `850 ms`, `12 s`, `3 min`, `2 h`, `5 days`. */
export function span(ms: number): string {
  const seconds = Math.round(ms / 1000);
  if (ms < 1000) return `${Math.max(0, Math.round(ms))} ms`;
  if (seconds < 100) return `${seconds} s`;
  if (seconds < 100 * 60) return `${Math.round(seconds / 60)} min`;
  if (seconds < 48 * 3600) return `${Math.round(seconds / 3600)} h`;
  return `${Math.round(seconds / 86_400)} days`;
}

/**
 * A moment in UTC, and its distance: `20:14:05 UTC (in 40 s)`, `(now)` within a second; with its date on another day.
 */
export function moment(ms: number, nowMs: number): string {
  const [day = '', time = ''] = new Date(ms).toISOString().split('T');
  const today = new Date(nowMs).toISOString().startsWith(day);
  const distance =
    Math.abs(ms - nowMs) < 1000 ? 'now' : ms > nowMs ? `in ${span(ms - nowMs)}` : `${span(nowMs - ms)} ago`;
  return `${today ? '' : `${day} `}${time.slice(0, 8)} UTC (${distance})`;
}

/** `, attempt 2`; empty where no attempt had begun. */
export function attemptOf({ attempt }: { attempt: number }): string {
  return attempt === 0 ? '' : `, attempt ${attempt}`;
}
