import { useSyncExternalStore } from 'react';
import { span } from './numbers.js';

/** The time, again each so many milliseconds. */
export function useNow(everyMs: number): number {
  return useSyncExternalStore(
    (changed) => {
      const timer = setInterval(changed, everyMs);
      return () => clearInterval(timer);
    },
    () => Math.floor(Date.now() / everyMs) * everyMs,
  );
}

/** A format is dear to make: a list that is scrolled shows hundreds of moments a second. */
const clocks = [false, true].map(
  (seconds) =>
    new Intl.DateTimeFormat([], {
      hour: '2-digit',
      minute: '2-digit',
      ...(seconds ? { second: '2-digit' } : {}),
      hour12: false,
    }),
);
const days = new Intl.DateTimeFormat([], { day: 'numeric', month: 'short' });
const whole = new Intl.DateTimeFormat([], {
  year: 'numeric',
  month: 'numeric',
  day: 'numeric',
  hour: 'numeric',
  minute: 'numeric',
  second: 'numeric',
});

/** The time of day by the clock here. */
export function clockOf(date: Date, seconds: boolean): string {
  return clocks[seconds ? 1 : 0]?.format(date) ?? '';
}

/** A moment by the clock here; by the clock of UTC when pointed at. */
export function Moment({ at, seconds = false }: { at: string; seconds?: boolean }) {
  const date = new Date(at);
  const isToday = date.toDateString() === new Date().toDateString();
  const clock = clockOf(date, seconds);
  return (
    <time dateTime={at} title={`${at.replace('T', ' ').replace(/\.\d+Z$/, '')} UTC`}>
      {isToday ? clock : `${days.format(date)}, ${clock}`}
    </time>
  );
}

/** What has just happened is not told in seconds: they would stand still. */
const justMs = 10_000;

/**
 * How long ago a moment was: `4 min`.
 *
 * @param inWords whether it ends a sentence: `4 min ago`, `just now`
 */
export function Ago({ at, inWords = false }: { at: string; inWords?: boolean }) {
  const ms = useNow(10_000) - Date.parse(at);
  const short = ms < justMs ? 'now' : span(ms);
  return (
    <time dateTime={at} title={`${whole.format(new Date(at))} (${at.replace('T', ' ').replace(/\.\d+Z$/, '')} UTC)`}>
      {!inWords ? short : ms < justMs ? 'just now' : `${short} ago`}
    </time>
  );
}
