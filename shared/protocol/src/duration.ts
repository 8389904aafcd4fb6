import * as z from 'zod';

/** The longest duration of the platform's timers: 2^31 - 1 ms, a little under 25 days. */
export const MAX_DURATION_MS = 2_147_483_647;

const UNIT_MS: Readonly<Record<string, number>> = { ms: 1, s: 1000, m: 60_000, h: 3_600_000, d: 86_400_000 };

/** Parses a duration with its unit, such as `500ms`, `30s` or `1.5h`, into milliseconds; `undefined` for anything else. */
export function parseDuration(text: string): number | undefined {
  const match = /^(\d{1,15}(?:\.\d{1,6})?)\s*(ms|s|m|h|d)$/.exec(text.trim());
  if (match === null) return undefined;
  const milliseconds = Number(match[1]) * (UNIT_MS[match[2] ?? ''] ?? Number.NaN);
  return Number.isInteger(milliseconds) ? milliseconds : undefined;
}

/** A duration of at most `max` milliseconds: a number of them, or a text with a unit (`500ms`, `30s`, `15m`, `1h`). */
const upTo = (max: number) =>
  z
    .union([z.number(), z.string()], {
      error: 'expected a duration such as 500ms, 30s or 15m, or a number of milliseconds',
    })
    .transform((value, context) => {
      const milliseconds = typeof value === 'number' ? value : parseDuration(value);
      if (milliseconds !== undefined) return milliseconds;
      context.addIssue({
        code: 'custom',
        message: /^\s*[\d.]+\s*$/.test(String(value))
          ? `not a duration: say of what ${String(value).trim()} is a number, such as ${String(value).trim()}s or ${String(value).trim()}ms`
          : 'not a duration: write 500ms, 30s, 15m or 1h',
      });
      return z.NEVER;
    })
    .pipe(z.int().min(0).max(max));

/** A duration in milliseconds that a timer may wait. */
export const duration = upTo(MAX_DURATION_MS);

/** How long something is kept, in milliseconds: up to a hundred years. No timer waits for it. */
export const retention = upTo(100 * 365 * 86_400_000);
