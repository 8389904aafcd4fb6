import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { expect, test } from '@jest/globals';
import { knownProviders } from './support/known-providers.js';

const page = readFileSync(join(import.meta.dirname, '../../docs/models.md'), 'utf8');
const section = /^## What providers and servers want\n([^]*?)^## /m.exec(page)?.[1] ?? '';
const rows = section
  .split('\n')
  .filter((line) => line.startsWith('|'))
  .slice(2)
  .map((line) => line.split('|').map((cell) => cell.trim()));

test('each row of the table in docs/models.md has a case, and counts cached tokens where the case does', () => {
  expect(rows.length).toBeGreaterThan(11);
  for (const [, name = '', , , counted = ''] of rows) {
    const known = knownProviders[name];
    expect([name, known !== undefined]).toEqual([name, true]);
    const path = counted === 'none' ? [] : counted.replaceAll('`', '').split('.');
    const count = path.reduce<unknown>(
      (value, field) => (value as Record<string, unknown> | undefined)?.[field],
      known?.usage,
    );
    expect([name, count]).toEqual([name, counted === 'none' ? undefined : 4]);
  }
});
