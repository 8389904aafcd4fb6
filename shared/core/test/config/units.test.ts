import { describe, expect, test } from '@jest/globals';
import { suggest } from '@suzumio/contract/errors/suggest';
import { indexOfKey, indexOfPassword } from '@suzumio/core/config/secret-patterns';
import { parseSize } from '@suzumio/contract/model/size-config';
import { parseDuration } from '@suzumio/protocol/duration';
import { mockScript } from '@suzumio/protocol/mock-script';
import { admittedTools, allowsTool, canonicalToolName, coreToolNames } from '@suzumio/protocol/tool-names';
import fc from '../../../../test/support/fast-check.js';

test.each([
  ['500ms', 500],
  ['30s', 30_000],
  ['1.5m', 90_000],
  ['1h', 3_600_000],
  ['2d', 172_800_000],
  ['250', undefined],
  ['0', undefined],
  [' 5 s ', 5000],
  ['', undefined],
  ['-1s', undefined],
  ['1.0001ms', undefined],
  ['1e3', undefined],
  ['5 minutes', undefined],
])('the duration %j is %p ms', (text, expected) => {
  expect(parseDuration(text)).toBe(expected);
});

test.each([
  ['512m', 536_870_912],
  ['1g', 1_073_741_824],
  ['64KiB', 65_536],
  ['1.5k', 1536],
  ['4096', 4096],
  ['12b', 12],
  ['1.5', undefined],
  ['-1', undefined],
  ['9999999999g', undefined],
  ['lots', undefined],
])('the size %j is %p bytes', (text, expected) => {
  expect(parseSize(text)).toBe(expected);
});

describe('an allowlist', () => {
  test.each([
    [['messages.send'], 'messages.send', true],
    [['messages.send'], 'messages.read', false],
    [['messages.*'], 'messages.read', true],
    [['messages.*'], 'messages', false],
    [['messages.*'], 'messagesx.read', false],
    [['*'], 'anything.at_all', true],
    [[], 'messages.send', false],
    [['coordination.no_valuable_work'], 'coordination.wait_for_signal', true],
    [['coordination.wait_for_signal'], 'coordination.no_valuable_work', true],
  ])('%j and %s: %p', (patterns, name, expected) => {
    expect(allowsTool(patterns, name)).toBe(expected);
  });

  test('admits tools in their order, under their present names', () => {
    expect(admittedTools(['completion.submit', 'artifacts.*'], coreToolNames)).toEqual([
      'artifacts.publish',
      'artifacts.list',
      'artifacts.read',
      'completion.submit',
    ]);
    expect(canonicalToolName('coordination.no_valuable_work')).toBe('coordination.wait_for_signal');
  });
});

describe('a suggestion', () => {
  const known = ['agents', 'channels', 'messages.send', 'messages.read'];

  test.each([
    ['agnets', 'agents'],
    ['Agents', 'agents'],
    ['agent', 'agents'],
    ['chanels', 'channels'],
    ['messages.sned', 'messages.send'],
    ['colour', undefined],
    ['', undefined],
  ])('for %j is %p', (given, expected) => {
    expect(suggest(given, known)).toBe(expected);
  });

  test('for a known name with two letters swapped is that name', () => {
    fc.assert(
      fc.property(fc.constantFrom(...coreToolNames), fc.nat(), (name, at) => {
        const index = at % (name.length - 1);
        const swapped = `${name.slice(0, index)}${name[index + 1] ?? ''}${name[index] ?? ''}${name.slice(index + 2)}`;
        return suggest(swapped, coreToolNames) === name;
      }),
    );
  });
});

test.each([
  ['sk-proj-abcdefghij1234567890', 0],
  ['key: "sk-ant-api03-AbCdEf012345678"', 6],
  ['gsk_abcdefghij0123456789abcd', 0],
  ['AKIAIOSFODNN7EXAMPLE', 0],
  ['sk-this-is-only-a-very-long-word', undefined],
  ['a task-with-0123456789-abcdefghijkl', undefined],
  ['sk-short1', undefined],
])('in %j something like a key begins at %p', (text, expected) => {
  expect(indexOfKey(text)).toBe(expected);
});

test.each([
  ['at postgres://desk:hunter2@db.example/desk', 3],
  ['redis://:hunter2@cache:6379', 0],
  ['https://desk@example.org/a:b@c', undefined],
  ['https://example.org:443/@desk', undefined],
  ['write postgres://user:<password>@host or mysql://user:password@host', undefined],
  ['at postgres://desk:${DB}@db.example', undefined],
  ['note: see://a:b and c@d', undefined],
])('in %j an address with a password begins at %p', (text, expected) => {
  expect(indexOfPassword(text)).toBe(expected);
});

describe('a mock script', () => {
  test('has every kind of step, with durations in milliseconds', () => {
    const steps = [
      { run: { command: 'true', timeoutMs: '2s' } },
      { write: { path: 'a', text: '' } },
      { tool: 'artifacts.list' },
      { wait: '200ms' },
      { fail: { exit: 3 } },
      { crash: true },
      { hang: true },
      { text: 'Done.' },
    ];
    const [rule] = mockScript.parse([{ agent: 'a', when: { priority: 'P0', attempt: 2 }, steps }]);
    expect(rule?.steps).toEqual([
      { run: { command: 'true', timeoutMs: 2000 } },
      { write: { path: 'a', text: '' } },
      { tool: 'artifacts.list', input: {} },
      { wait: 200 },
      { fail: { exit: 3 } },
      { crash: true },
      { hang: true },
      { text: 'Done.' },
    ]);
    expect(mockScript.parse([rule])).toEqual([rule]);
  });

  test.each([{ fail: { exit: 0 } }, { crash: false }, { run: {} }, { text: 'a', wait: 1 }, {}])(
    'has no step %j',
    (step) => {
      expect(mockScript.safeParse([{ agent: 'a', steps: [step] }]).success).toBe(false);
    },
  );
});
