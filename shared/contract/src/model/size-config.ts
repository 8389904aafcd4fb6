import * as z from 'zod';

const UNIT_BYTES: Readonly<Record<string, number>> = { b: 1, k: 1024, m: 1024 ** 2, g: 1024 ** 3, t: 1024 ** 4 };

/** Bytes of a text such as `512m`, `1g`, `64KiB` or `4096` (units are powers of 1024); `undefined` where it is none. */
export function parseSize(text: string): number | undefined {
  const match = /^(\d{1,15}(?:\.\d{1,6})?)\s*(?:([kmgt])(?:i?b)?|b)?$/i.exec(text.trim());
  if (match === null) return undefined;
  const bytes = Number(match[1]) * (UNIT_BYTES[(match[2] ?? 'b').toLowerCase()] ?? 1);
  return Number.isSafeInteger(bytes) ? bytes : undefined;
}

/** A size in bytes; accepts a number or a short text (`512m`, `1g`). */
export const size = z
  .union([z.number(), z.string()], { error: 'expected a size such as 512m or 1g, or a number of bytes' })
  .transform((value, context) => {
    const bytes = typeof value === 'number' ? value : parseSize(value);
    if (bytes !== undefined) return bytes;
    context.addIssue({
      code: 'custom',
      message: 'not a size: write 512m, 1g or a number of bytes',
    });
    return z.NEVER;
  })
  .pipe(z.int().min(0));
