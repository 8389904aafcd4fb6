import { readFile } from 'node:fs/promises';
import { expect, test } from '@jest/globals';
import { keyNames, keyTable, signsOf } from '../src/acts/key-table.js';

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
