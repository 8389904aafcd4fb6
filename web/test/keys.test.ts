import { readFile } from 'node:fs/promises';
import { describe, expect, test } from '@jest/globals';
import { keyNames, keyTable, signsOf } from '../src/acts/key-table.js';
import { isFirst, nameOf, signOf } from '../src/acts/press.js';

test('no key means two things', () => {
  const presses = keyNames.map((name) => keyTable[name].press);
  expect(new Set(presses).size).toBe(presses.length);
  // The first of two signs does nothing by itself.
  for (const press of presses.filter((one) => one.includes(' '))) expect(presses).not.toContain(press.split(' ')[0]);
});

test('the documentation has every key, and no other', async () => {
  const docs = await readFile(new URL('../../docs/web.md', import.meta.url), 'utf8');
  const [, table = ''] = docs.split('| key ');
  const rows = table.split('\n\n')[0]?.split('\n').slice(2) ?? [];
  const cells = rows.map((row) => row.split(' | ').map((cell) => cell.replaceAll(/^\| +| +\|$/g, '').trim()));
  expect(cells).toEqual(
    keyNames.map((name) => {
      const between = keyTable[name].press.includes(' ') ? ' then ' : ' ';
      const signs = signsOf(name, false).map((sign) => `\`${sign}\``);
      return [signs.join(between), keyTable[name].does, keyTable[name].where];
    }),
  );
});

describe('two signs', () => {
  test('after the first of them, the second means both together, or nothing', () => {
    expect(nameOf('', 'P')).toBe('pause');
    expect(nameOf('G', 'P')).toBe('goProjects');
    // It approves by itself.
    expect(nameOf('G', 'A')).toBeUndefined();
  });

  test('leave what is pressed with Ctrl alone, and what is nothing as a second begins anew', () => {
    expect([isFirst('G'), isFirst('P'), nameOf('G', 'G')]).toEqual([true, false, undefined]);
    expect(nameOf('G', 'Ctrl+K')).toBe('palette');
  });
});

describe('what is pressed', () => {
  const plain = { key: 'k', code: 'KeyK', ctrlKey: false, metaKey: false, altKey: false, shiftKey: false };
  const [ctrl, meta] = [
    { ...plain, ctrlKey: true },
    { ...plain, metaKey: true },
  ];

  test('with ⌘ on a Mac, and with Ctrl elsewhere, is for the page; with the other one it is not', () => {
    expect([signOf(ctrl, false), signOf(meta, true)]).toEqual(['Ctrl+K', 'Ctrl+K']);
    expect([signOf(ctrl, true), signOf(meta, false)]).toEqual([undefined, undefined]);
  });

  test('is a sign, in whichever script', () => {
    expect([signOf(plain, false), signOf({ ...plain, key: 'л' }, true)]).toEqual(['K', 'K']);
    expect([signOf({ ...plain, key: 'Escape' }, false), signOf({ ...plain, altKey: true }, false)]).toEqual([
      undefined,
      undefined,
    ]);
  });
});
