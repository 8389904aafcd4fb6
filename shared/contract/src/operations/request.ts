import { z } from 'zod';
import { suggest } from '../errors/suggest.js';

/** The longest request body. */
export const maxRequestBytes = 1024 * 1024;

/** An object with these fields and no others; an unknown one is told what was probably meant. */
export function request<Shape extends z.ZodRawShape>(shape: Shape) {
  const known = Object.keys(shape);
  return z.strictObject(shape, {
    error: (issue) => (issue.code === 'unrecognized_keys' ? unknownFields(issue.keys, known) : undefined),
  });
}

function unknownFields(keys: readonly string[], known: readonly string[]): string {
  const hint = (key: string) => {
    const meant = suggest(key, known);
    if (meant !== undefined) return `did you mean ${meant}?`;
    return known.length === 0 ? 'there are none' : `known are ${known.join(', ')}`;
  };
  return keys
    .slice(0, 5)
    .map((key) => `unknown field "${key.slice(0, 60)}" (${hint(key)})`)
    .join('; ');
}

/** A whole number as it stands in a query. */
export function numeral(min: number, max: number) {
  const error = `expected a whole number from ${min} to ${max}`;
  return z.preprocess(
    (text: string | number) => (typeof text === 'string' && /^\d{1,16}$/.test(text) ? Number(text) : Number.NaN),
    z.int({ error }).min(min, { error }).max(max, { error }),
  );
}

/** Names with commas between them, as they stand in a query. */
export function names<Name extends z.ZodType>(name: Name) {
  return z.preprocess(
    (text: string | readonly string[]) =>
      [text].flat().flatMap((part) => (typeof part === 'string' ? part.split(',') : [part])),
    z.array(name).min(1),
  );
}

export const noQuery = request({});

const limit = numeral(1, 1000).default(100).describe('How many the part has at the most.');

/** Without `after`, the newest; with it, those that follow that place in the list. */
export const page = {
  limit,
  after: numeral(0, Number.MAX_SAFE_INTEGER)
    .optional()
    .describe("The `next` of an earlier part, or an item's `seq`; without it, the part is the end of the list."),
};

export const pageQuery = request(page);

export const emptyRequest = request({});

export const idempotencyKey = z
  .string()
  .regex(/^[\x21-\x7e]{1,255}$/, { error: 'expected 1 to 255 visible ASCII characters' });

/** Part of a list. */
export function listOf<Item extends z.ZodType>(item: Item) {
  const next = z.exactOptional(z.int()).describe('The `after` with which the list goes on; an empty part has none.');
  return z.object({ items: z.array(item), next });
}

/** Lists go on after the name that the part before ended with. */
export const namedPage = {
  limit,
  after: z.string().max(200).optional().describe('The `next` of an earlier part.'),
};
