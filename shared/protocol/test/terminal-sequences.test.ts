import { expect, test } from '@jest/globals';
import { withoutTerminalSequences } from '../src/terminal-sequences.js';

test.each([
  ['colours', '\u001b[1;31mred\u001b[0m \u009b32mgreen', 'red green'],
  ['the cursor', 'a\u001b[2J\u001b[1;1Hb\u001b[?25lc\u001b7d', 'abcd'],
  ['a title', '\u001b]0;mine\u0007text', 'text'],
  ['a link', '\u001b]8;;https://example.com\u001b\\here\u001b]8;;\u001b\\', 'here'],
  ['a string to the device', 'a\u001bPq#0\u001b\\b\u0090x\u009cc', 'abc'],
  ['a choice of characters', '\u001b(Ba', 'a'],
  ['no end of a string', '\u001b]0;mine\nand more', '0;mine\nand more'],
  ['no end of a sequence', 'a\u001b[31', 'a31'],
  ['none', 'plain\ttext, [31m and ]0;', 'plain\ttext, [31m and ]0;'],
])('%s', (_what, text, left) => {
  expect(withoutTerminalSequences(text)).toBe(left);
});

// What takes as long as the square of its length takes minutes here.
test.each(['\u001b]', '\u009d', '\u001b]a;', '\u001b[;', '\u001b[;#', '\u001bP\u001b', '\u001b ', ';', '\u001b'])(
  'a mebibyte of %j',
  (piece) => {
    for (const begin of ['', '\u001b]', '\u001b[', '\u001b ']) {
      const text = begin + piece.repeat(1_048_576 / piece.length);
      expect(withoutTerminalSequences(text).length).toBeLessThanOrEqual(text.length);
    }
  },
);
