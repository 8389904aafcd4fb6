import * as z from 'zod';
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

/** A day of UTC, or a moment. */
export const moment = z
  .union([z.iso.date(), z.iso.datetime({ offset: true })], { error: 'expected a day, such as 2026-11-21, or a moment' })
  .transform((text) => Date.parse(text));

const paging = {
  limit: numeral(1, 1000).default(100).describe('How many the part has at the most.'),
  order: z
    .enum(['asc', 'desc'])
    .default('asc')
    .describe('Whether the part has what comes first in the list first, or last: `desc` is the newest first.'),
};

const afterText = "The `next` of another part, or an item's `seq`: the part has what follows that place.";
const beforeText =
  "The `previous` of another part, or an item's `seq`: the part has what is before that place, up to it.";
const place = numeral(0, Number.MAX_SAFE_INTEGER).optional();

/**
 * A part of a list that grows: without `after` and `before`, its end. With both, what is between them: the end of that,
 * where the order is `desc`, and else its beginning.
 */
export const page = {
  ...paging,
  after: place.describe(`${afterText} Without it and \`before\`, the part is the end of the list.`),
  before: place.describe(beforeText),
};

export const pageQuery = request(page);

/** Only what is from this moment on, and before that one. */
export const timeRange = {
  since: moment
    .optional()
    .describe('Only from this moment on, such as `2026-11-22T09:00:00Z`, or from the beginning of this day of UTC.'),
  until: moment.optional().describe('Only before this moment, or before this day.'),
};

const baseMeaning =
  'The `version` that was read before: where another one is the newest, nothing is changed. Without it, the newest is changed, whichever that is.';

/** Of what several people may change at the same time. */
export const baseVersion = z.int().min(1).optional().describe(baseMeaning);

/** The same where something is erased. */
export const baseQuery = request({ baseVersion: numeral(1, Number.MAX_SAFE_INTEGER).optional().describe(baseMeaning) });

export const emptyRequest = request({});

export const idempotencyKey = z
  .string()
  .regex(/^[\x21-\x7e]{1,255}$/, { error: 'expected 1 to 255 visible ASCII characters' });

/** Part of a list. It may be shorter than `limit` where texts are long, or where a filter left out many. */
export function listOf<Item extends z.ZodType>(item: Item) {
  return z.object({
    items: z.array(item),
    next: z
      .exactOptional(z.int())
      .describe(
        'The `after` with which the list goes on; a part without items has none, unless there is more to look at.',
      ),
    previous: z.exactOptional(z.int()).describe('The `before` with which it goes back; none where nothing is before.'),
  });
}

/** Part of a list by names. */
export function namedListOf<Item extends z.ZodType>(item: Item) {
  return z.object({
    items: z.array(item),
    next: z.exactOptional(z.string()).describe('The `after` with which the list goes on; the last part has none.'),
    previous: z.exactOptional(z.string()).describe('The `before` with which it goes back; the first part has none.'),
  });
}

const name = z.string().max(200).optional();

/** A part of a list by names: without `after` and `before`, its beginning, or with `desc` its end. */
export const namedPage = {
  ...paging,
  after: name.describe('The `next` of another part: the part has what follows that name.'),
  before: name.describe('The `previous` of another part: the part has what is before that name, up to it.'),
};
