import { glob, readFile } from 'node:fs/promises';
import { join } from 'node:path';
import { expect, test } from '@jest/globals';

const source = join(import.meta.dirname, '../src');

test('every page says its title where what waits is counted with it', async () => {
  const others: string[] = [];
  for await (const file of glob('**/*.{ts,tsx}', { cwd: source })) {
    if (file !== 'title.ts' && (await readFile(join(source, file), 'utf8')).includes('document.title'))
      others.push(file);
  }
  expect(others).toEqual([]);
});
