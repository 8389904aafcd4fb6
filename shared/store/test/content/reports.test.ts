import { expect, test } from '@jest/globals';
import { readReports } from '@suzumio/store/content/reports';
import { teams } from '../team.js';

const team = teams();

test('the versions of the report say who submitted them, and what was decided last', async () => {
  const of = await team();
  const read = (page: { limit: number; before?: number } = { limit: 10 }) => readReports(of.store.reader, page).items;
  expect(read()).toEqual([]);
  await of.submit(await of.work('ada'), 'ada');
  expect(read()).toMatchObject([{ version: 1, agent: 'ada', turnNumber: 1, decision: null }]);
  await of.requestChanges('ada');
  await of.submit(await of.work('ben'), 'ben');
  await of.approve();
  expect(read()).toMatchObject([
    { version: 1, agent: 'ada', decision: { kind: 'changes-requested', by: 'test' } },
    { version: 2, agent: 'ben', turnNumber: 1, decision: { kind: 'approved', by: 'test' } },
  ]);
  await of.requestChanges('ben', 'completed');
  expect(read({ limit: 1 })).toMatchObject([{ version: 2, decision: { kind: 'changes-requested' } }]);
  expect(read({ limit: 1, before: 2 })).toMatchObject([{ version: 1 }]);
});
