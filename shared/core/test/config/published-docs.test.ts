import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { expect, test } from '@jest/globals';
import { describePublishedKeys } from '@suzumio/core/config/describe-published-keys';

test('docs/coming-from-suzumio.md says of every key what the code does with it', () => {
  const page = readFileSync(join(import.meta.dirname, '../../../../docs/coming-from-suzumio.md'), 'utf8');
  const rows = page
    .slice(page.indexOf('## Keys'))
    .split('\n')
    .filter((line) => line.startsWith('| `'))
    .map((line) =>
      line
        .slice(1, -1)
        .split('|')
        .map((cell) => cell.trim()),
    );
  expect(rows).toEqual(describePublishedKeys().map(({ key, meaning, here }) => [key, meaning, here]));
});
