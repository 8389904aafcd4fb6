import { describe, expect, test } from '@jest/globals';
import { hunksIn, mergeLines } from '@suzumio/runner/work-tree/merge-lines';

const base = ['a\n', 'b\n', 'c\n', 'd\n', 'e\n'];
const put = (start: number, end: number, ...lines: string[]) => ({
  start,
  end,
  lines: lines.map((line) => `${line}\n`),
});
const merged = (...sides: [ReturnType<typeof put>[], ReturnType<typeof put>[]]) => mergeLines(base, ...sides)?.join('');

describe('one side has the change of the other, and more beside it', () => {
  test.each([
    ['another line before it', put(1, 2, 'B'), put(0, 2, 'A', 'B'), 'A\nB\nc\nd\ne\n'],
    ['another line after it', put(1, 2, 'B'), put(1, 3, 'B', 'C'), 'a\nB\nC\nd\ne\n'],
    ['a new line between', put(1, 2, 'B'), put(1, 2, 'new', 'B'), 'a\nnew\nB\nc\nd\ne\n'],
    ['new lines that both added', put(2, 2, 'x', 'y'), put(1, 3, 'B', 'x', 'y', 'C'), 'a\nB\nx\ny\nC\nd\ne\n'],
  ])('%s', (_, smaller, larger, text) => {
    expect([merged([smaller], [larger]), merged([larger], [smaller])]).toEqual([text, text]);
  });

  test('each side in a place of its own, with what only one has changed', () => {
    expect(merged([put(0, 1, 'A'), put(2, 3, 'C'), put(4, 5, 'E')], [put(0, 1, 'new', 'A'), put(4, 5, 'E')])).toBe(
      'new\nA\nb\nC\nd\nE\n',
    );
  });
});

describe('is left to a person where', () => {
  test.each([
    ['both have changed the same line', put(1, 2, 'B'), put(1, 2, 'other')],
    ['lines beside each other', put(1, 2, 'B'), put(2, 3, 'C')],
    ['one has removed what the other has changed', put(1, 2), put(0, 2, 'A', 'B')],
    ['one has removed more than it put there', put(1, 3, 'B'), put(1, 3, 'B', 'C')],
    ['what both have says nothing', put(2, 2, '}'), put(1, 2, 'B', 'if x {', '}')],
    ['both sides stand', put(1, 2, 'B'), put(1, 2, '<<<<<<< yours', 'other', '=======', 'B', '>>>>>>> theirs')],
    ['it stands in another order', put(1, 3, 'B', 'C'), put(1, 3, 'C', 'B')],
  ])('%s', (_, ours, theirs) => {
    expect([merged([ours], [theirs]), merged([theirs], [ours])]).toEqual([undefined, undefined]);
  });
});

test('hunks are read from a diff without context', () => {
  const side = ['a\n', 'new\n', 'b\n', 'D\n', '@@ -1 +1 @@\n'];
  const diff =
    'diff --git a/x b/x\n--- a/x\n+++ b/x\n@@ -1,0 +2 @@ a\n+new\n@@ -3,2 +4 @@\n-c\n-d\n+D\n@@ -5 +5 @@\n-e\n+@@ -1 +1 @@\n';
  expect(hunksIn(diff, side)).toEqual([
    { start: 1, end: 1, lines: ['new\n'] },
    { start: 2, end: 4, lines: ['D\n'] },
    { start: 4, end: 5, lines: ['@@ -1 +1 @@\n'] },
  ]);
});
