import { describe, expect, test } from '@jest/globals';
import fc from '../../../../test/support/fast-check.js';
import { Comparisons } from '../../src/diff/common-lines.js';
import { quotedPath } from '@suzumio/protocol/quoted-path';
import { unifiedDiff } from '../../src/diff/unified-diff.js';

const plenty = () => new Comparisons(1_000_000);
const file = (text: string) => ({ mode: '100644', text });
const diff = (before: string, after: string, comparisons = plenty()) =>
  unifiedDiff('a.txt', file(before), file(after), comparisons);

/** Applies the hunks of a diff of one file, as any reader of the format does. */
function applied(before: string, patch: string): string {
  const lines = before === '' ? [] : before.split(/(?<=\n)/);
  const result: string[] = [];
  let at = 0;
  const body = patch.split(/(?<=\n)/).filter((line) => !/^(diff|---|\+\+\+|(old|new|deleted) )/.test(line));
  body.forEach((line, index) => {
    const text = body[index + 1]?.startsWith('\\') ? line.slice(1, -1) : line.slice(1);
    const [, start, length] = /^@@ -(\d+)(?:,(\d+))? /.exec(line) ?? [];
    if (start !== undefined) {
      const from = length === '0' ? Number(start) : Number(start) - 1;
      result.push(...lines.slice(at, from));
      at = from;
    } else if (line.startsWith(' ')) {
      expect(lines[at]).toBe(text);
      result.push(text);
      at += 1;
    } else if (line.startsWith('-')) {
      expect(lines[at]).toBe(text);
      at += 1;
    } else if (line.startsWith('+')) result.push(text);
  });
  return [...result, ...lines.slice(at)].join('');
}

describe('a unified diff', () => {
  test('has three lines around what has changed, and one hunk for what is near', () => {
    const before = Array.from({ length: 20 }, (_, line) => `${line}\n`).join('');
    const after = before.replace('4\n', 'four\n').replace('9\n', '').replace('18\n', '18\nand\n');
    expect(diff(before, after)).toBe(`diff --git a/a.txt b/a.txt
--- a/a.txt
+++ b/a.txt
@@ -2,12 +2,11 @@
 1
 2
 3
-4
+four
 5
 6
 7
 8
-9
 10
 11
 12
@@ -17,4 +16,5 @@
 16
 17
 18
+and
 19
`);
  });

  test('says where a file has no line feed at its end', () => {
    expect(diff('one', 'one\n')).toContain('@@ -1 +1 @@\n-one\n\\ No newline at end of file\n+one\n');
  });

  test('tells files that were added, removed, emptied, or whose mode has changed', () => {
    expect(unifiedDiff('a b', undefined, file('x\n'), plenty())).toBe(
      'diff --git a/a b b/a b\nnew file mode 100644\n--- /dev/null\n+++ b/a b\t\n@@ -0,0 +1 @@\n+x\n',
    );
    expect(unifiedDiff('a', file('x\n'), undefined, plenty())).toContain(
      'deleted file mode 100644\n--- a/a\n+++ /dev/null\n@@ -1 +0,0 @@\n-x\n',
    );
    expect(unifiedDiff('a', undefined, file(''), plenty())).toBe('diff --git a/a b/a\nnew file mode 100644\n');
    expect(unifiedDiff('a', file('x\n'), { mode: '100755', text: 'x\n' }, plenty())).toBe(
      'diff --git a/a b/a\nold mode 100644\nnew mode 100755\n',
    );
  });

  test('of any two texts leads from one to the other, also where few comparisons are allowed', () => {
    const text = fc.array(fc.constantFrom('a', 'b', 'c', '\n', '\n', 'd\n', '\r\n')).map((parts) => parts.join(''));
    fc.assert(
      fc.property(text, text, fc.nat(60), (before, after, comparisons) => {
        expect(applied(before, diff(before, after))).toBe(after);
        expect(applied(before, diff(before, after, new Comparisons(comparisons)))).toBe(after);
      }),
    );
  });

  test('of long texts with nothing in common takes no more comparisons than are allowed', () => {
    const lines = (of: string) => Array.from({ length: 20_000 }, (_, line) => `${of} ${line % 7} ${line}\n`).join('');
    const comparisons = new Comparisons(100_000);
    const patch = diff(`same\n${lines('x')}`, `same\n${lines('y')}`, comparisons);
    expect(comparisons.remaining).toBe(0);
    expect(patch).toContain('@@ -1,20001 +1,20001 @@\n same\n-x 0 0\n');
  });

  test('has each name on one line', () => {
    expect(quotedPath('a/grüße 1.txt')).toBe('a/grüße 1.txt');
    expect(quotedPath('a\n+++ b\t"\\\u001b[2J')).toBe('"a\\n+++ b\\t\\"\\\\\\033[2J"');
  });
});
