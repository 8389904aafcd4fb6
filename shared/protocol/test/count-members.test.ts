import { expect, test } from '@jest/globals';
import fc, { caseCount } from '../../../test/support/fast-check.js';
import { countMembers } from '../src/count-members.js';

const bytes = (text: string) => new TextEncoder().encode(text);

/** Members of lists and objects, all the way down; a list or an object counts itself where it is empty. */
function membersOf(value: unknown): number {
  if (typeof value !== 'object' || value === null) return 0;
  const parts = Object.values(value);
  return Math.max(1, parts.length) + parts.reduce((sum: number, part) => sum + membersOf(part), 0);
}

test('every member is counted, whatever its texts hold', () => {
  fc.assert(
    fc.property(fc.jsonValue({ maxDepth: 5 }), (value) => {
      expect(countMembers(bytes(JSON.stringify(value)), Infinity)).toBe(membersOf(JSON.parse(JSON.stringify(value))));
    }),
    { numRuns: caseCount(500) },
  );
});

test.each([
  ['brackets and commas in a text', '["[,{,\\",[,"]', 1],
  ['a text that ends in a backslash', '["a\\\\",1]', 2],
  ['a text without an end', '["aaa,,,', 1],
  ['nothing', '', 0],
])('%s', (_name, text, members) => {
  expect(countMembers(bytes(text), Infinity)).toBe(members);
});

test('counting stops beyond what is allowed', () => {
  expect(countMembers(bytes('['.repeat(1_000_000)), 10)).toBe(11);
});
