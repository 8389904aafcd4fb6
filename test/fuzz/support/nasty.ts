import fc from '../../support/fast-check.js';
import { anyText } from '../../support/any-text.js';

const fragments = [
  '',
  ' ',
  '\0',
  '\u0001',
  '\r\n',
  '\u0085',
  '\u2028',
  '\u202e',
  '\u200b',
  '\ufeff',
  '\uffff',
  '\ud800',
  '\udc00',
  '😀',
  'İ',
  'ß',
  'e\u0301\u0301\u0301',
  '__proto__',
  'constructor',
  'toString',
  'hasOwnProperty',
  '..',
  '../',
  '/etc/passwd',
  '/',
  '\\',
  '%',
  '%00',
  '%2e%2e%2f',
  '${HOME}',
  '@import(/etc/passwd)',
  '{{steps.0.output}}',
  '{{__proto__}}',
  "'; DROP TABLE messages; --",
  '" OR 1=1',
  '<script>alert(1)</script>',
  '[end msg_1]',
  '| ',
  '---\n',
  'null',
  'true',
  '-1',
  '0',
  '1e999',
  '9007199254740993',
  '99999999999999999999',
  'NaN',
  '1-1',
  '9-9',
  '1h',
  '-5m',
  '1e9h',
  '#project',
  'user',
  'P0',
] as const;

/** Texts that mean something to somebody on the way. */
export const nastyText: fc.Arbitrary<string> = fc.oneof(
  fc.constantFrom(...fragments),
  anyText(20),
  fc.array(fc.constantFrom(...fragments), { maxLength: 6 }).map((parts) => parts.join('')),
  { arbitrary: fc.constantFrom(300, 5_000, 70_000).map((length) => 'a'.repeat(length)), weight: 1 },
);

/** Values that come where another was expected. */
export const nastyValue: fc.Arbitrary<unknown> = fc.oneof(
  { arbitrary: nastyText, weight: 4 },
  {
    arbitrary: fc.constantFrom<unknown>(
      null,
      true,
      false,
      0,
      -1,
      1.5,
      1e308,
      5e-324,
      2 ** 31,
      2 ** 53,
      -(2 ** 63),
      {},
      [],
      [[]],
      [null],
    ),
    weight: 4,
  },
  { arbitrary: fc.jsonValue({ maxDepth: 3 }), weight: 2 },
  { arbitrary: fc.constantFrom(20, 3_000).map(nested), weight: 1 },
);

/** Lists within lists. */
function nested(depth: number): unknown {
  let value: unknown = 0;
  for (let level = 0; level < depth; level += 1) value = [value];
  return value;
}

/** A value as JSON; nothing, where it is none. */
export function jsonOf(value: unknown): string {
  return value === undefined ? '' : JSON.stringify(value);
}

/** What is done to a value somewhere inside of it. */
interface Change {
  readonly kind: 'replace' | 'remove' | 'add' | 'wrap' | 'double';
  readonly at: number;
  readonly key: string;
  readonly value: unknown;
}

const change: fc.Arbitrary<Change> = fc.record({
  kind: fc.constantFrom('replace', 'remove', 'add', 'wrap', 'double'),
  at: fc.nat(200),
  key: fc.oneof(fc.constantFrom('__proto__', 'constructor', 'prototype', '', 'length', '0'), nastyText),
  value: nastyValue,
});

/** Values of `valid`, most of them with something wrong in some places. */
export function spoiled(valid: fc.Arbitrary<unknown>): fc.Arbitrary<unknown> {
  return fc
    .tuple(valid, fc.array(change, { maxLength: 3 }))
    .map(([value, changes]) => changes.reduce<unknown>((changed, one) => apply(changed, one), value));
}

function apply(value: unknown, { kind, at, key, value: other }: Change): unknown {
  const places = placesIn(value);
  const path = places[at % places.length] ?? [];
  switch (kind) {
    case 'replace':
      return changed(value, path, () => other);
    case 'wrap':
      return changed(value, path, (old) => [old]);
    case 'double':
      return changed(value, path, (old) => (typeof old === 'string' ? old + old : [old, old]));
    case 'remove':
      return changed(value, path, () => undefined);
    case 'add':
      return changed(value, path, (old) => (isObject(old) ? withKey(old, key, other) : other));
  }
}

function isObject(value: unknown): value is Record<string, unknown> {
  return typeof value === 'object' && value !== null && !Array.isArray(value);
}

/** Also for `__proto__`, which an assignment would not make a key. */
function withKey(value: Record<string, unknown>, key: string, item: unknown): Record<string, unknown> {
  return Object.fromEntries([...Object.entries(value), [key, item]]);
}

type Path = readonly (string | number)[];

function placesIn(value: unknown, path: Path = [], most = 200): Path[] {
  const places: Path[] = [path];
  if (typeof value !== 'object' || value === null || path.length > 12) return places;
  for (const [key, item] of Object.entries(value)) {
    if (places.length >= most) break;
    places.push(...placesIn(item, [...path, Array.isArray(value) ? Number(key) : key], most - places.length));
  }
  return places;
}

function changed(value: unknown, path: Path, make: (old: unknown) => unknown): unknown {
  const [first, ...rest] = path;
  if (first === undefined) return make(value);
  if (Array.isArray(value))
    return (value as unknown[]).map((item, index) => (index === first ? changed(item, rest, make) : item));
  const entries = Object.entries(value as Record<string, unknown>).map(([key, item]) => [
    key,
    key === first ? changed(item, rest, make) : item,
  ]);
  return Object.fromEntries(entries);
}

/** Text with something put in, taken out or cut off somewhere. */
export function spoiledText(
  valid: fc.Arbitrary<string>,
  pieces: fc.Arbitrary<string> = nastyText,
): fc.Arbitrary<string> {
  const edit = fc.record({ at: fc.nat(100_000), take: fc.oneof(fc.constant(0), fc.nat(40)), put: pieces });
  return fc.tuple(valid, fc.array(edit, { maxLength: 4 })).map(([text, edits]) =>
    edits.reduce((edited, { at, take, put }) => {
      const start = edited.length === 0 ? 0 : at % edited.length;
      return edited.slice(0, start) + put + edited.slice(start + take);
    }, text),
  );
}

/** The bytes of a text, now and then with some that are none of its. */
export function spoiledBytes(valid: fc.Arbitrary<string>): fc.Arbitrary<Buffer> {
  const stray = fc.constantFrom([], [0xff], [0xc0, 0xaf], [0xef, 0xbb, 0xbf], [0xed, 0xa0, 0x80], [0], [0xff, 0xfe]);
  return fc.tuple(spoiledText(valid), stray, fc.nat(100_000)).map(([text, strange, at]) => {
    const bytes = Buffer.from(text);
    const start = bytes.length === 0 ? 0 : at % bytes.length;
    return Buffer.concat([bytes.subarray(0, start), Buffer.from(strange), bytes.subarray(start)]);
  });
}
