import { afterEach, beforeEach, expect, test } from '@jest/globals';
import { type TestCell, testCell } from '../../../../test/support/cell.js';

let testing: TestCell;
let project: string;
beforeEach(async () => {
  testing = await testCell();
  project = await testing.create();
});
afterEach(() => testing.close());
const stores = () => testing.cell.stores;

test('a database that nobody uses is closed, and opened again for its next user', async () => {
  expect(stores().open).toBe(1);
  stores().forgetIdle();
  expect(stores().open).toBe(1);
  stores().forgetIdle(0);
  expect(stores().open).toBe(0);
  expect(await testing.rows(project, 'SELECT id FROM projects')).toEqual([{ id: project }]);
  expect(stores().open).toBe(1);
});

test('one that is being used stays open', async () => {
  await stores().use(project, ({ reader }) => {
    stores().forgetIdle(0);
    expect(stores().open).toBe(1);
    expect(reader.all('SELECT id FROM projects')).toEqual([{ id: project }]);
  });
});
