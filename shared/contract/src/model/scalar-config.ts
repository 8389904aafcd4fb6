import * as z from 'zod';

/**
 * An environment variable that was substituted stays a string, so that it cannot change the file's structure.
 * Numbers and flags therefore also accept their usual spelling as a string.
 */
const fromText = (value: unknown): unknown => {
  if (typeof value !== 'string') return value;
  const text = value.trim();
  if (/^\d{1,15}(\.\d{1,15})?$/.test(text)) return Number(text);
  if (text === 'true' || text === 'false') return text === 'true';
  return value;
};

/** A whole number between `min` and `max`. */
export const wholeNumber = (min: number, max: number) => z.preprocess(fromText, z.int().min(min).max(max));

/** A number between `min` and `max`. */
export const decimal = (min: number, max: number) => z.preprocess(fromText, z.number().min(min).max(max));

/** `true` or `false`. */
export const flag = z.preprocess(fromText, z.boolean());

/** A text of one line, for headings and lists of the prompt; surrounding space is dropped. */
export const line = (max: number) =>
  z
    .string()
    .trim()
    .min(1, { error: 'must not be empty' })
    .max(max)
    .regex(/^[^\p{Cc}\u2028\u2029]*$/u, { error: 'must be one line without control characters' });

/** A text of any number of lines that is not blank. */
export const prose = z.string().regex(/\S/, { error: 'must not be empty' });
