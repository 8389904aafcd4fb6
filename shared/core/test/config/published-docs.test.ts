import { expect, test } from '@jest/globals';
import { describePublishedKeys } from '@suzumio/core/config/describe-published-keys';
import { publishedTable } from '../../../../test/support/published-table.js';

test('docs/coming-from-suzumio.md says of every key what the code does with it', () => {
  const rows = describePublishedKeys().map(({ key, meaning, here }) => [key, meaning, here]);
  expect(publishedTable('Keys')).toEqual(rows);
});
