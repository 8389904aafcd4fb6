import { expect, test } from '@jest/globals';
import { mockScript } from '@suzumio/protocol/mock-script';

const script = (input: unknown) => [{ agent: 'a', steps: [{ tool: 'messages.send', input: { value: input } }] }];

/** Lists in one another. */
function nested(depth: number): unknown {
  let value: unknown = 'x';
  for (let level = 0; level < depth; level += 1) value = [value];
  return value;
}

test('a tool takes what is nested as deep as calls may be', () => {
  expect(mockScript.safeParse(script(nested(60))).success).toBe(true);
});

test.each([70, 200_000])('what is nested %i deep is refused, and exhausts nothing', (depth) => {
  const parsed = mockScript.safeParse(script(nested(depth)));
  expect(parsed.success).toBe(false);
  expect(JSON.stringify(parsed.error?.issues)).toContain('at most 64 deep');
});
