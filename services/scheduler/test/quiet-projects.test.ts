import { utimes } from 'node:fs/promises';
import { afterEach, beforeEach, expect, test } from '@jest/globals';
import { postMessage } from '@suzumio/store/mail/post-message';
import { QuietProjects } from '../src/quiet-projects.js';
import { type TestCell, testCell } from '../../../test/support/cell.js';

let testing: TestCell;
let project: string;
let looks: number;
const quiet = new QuietProjects();

beforeEach(async () => {
  testing = await testCell();
  project = await testing.create();
  looks = 0;
});
afterEach(() => testing.close());

const file = () => testing.cell.directory.projectFile(project);
const visit = (isQuiet = true) =>
  quiet.visit(project, file(), () => {
    looks += 1;
    return Promise.resolve(isQuiet);
  });

/** Makes the last commit look as if it was made so long ago. */
async function age(seconds = 10): Promise<void> {
  const then = Date.now() / 1000 - seconds;
  for (const path of [file(), `${file()}-wal`]) await utimes(path, then, then);
}

test('a project with nothing to do is looked at again when somebody has committed, and only then', async () => {
  await age();
  await visit();
  await visit();
  expect(looks).toBe(1);
  await testing.write(project, (tx) =>
    postMessage(tx, { sender: 'user', recipient: 'ada', priority: 'P1', body: 'Go.', actor: 'test' }),
  );
  await visit();
  expect(looks).toBe(2);
});

test('one with something to do is looked at every time', async () => {
  await age();
  await visit(false);
  await visit(false);
  expect(looks).toBe(2);
});

test('one whose last commit is young is looked at again: another may follow in the same moment', async () => {
  await age(-60);
  await visit();
  await visit();
  expect(looks).toBe(2);
});

test('opening and closing its database is no commit', async () => {
  await testing.restart();
  await testing.rows(project, 'SELECT 1');
  testing.cell.stores.forget(project);
  await testing.restart();
  const then = Date.now() / 1000 - 10;
  await utimes(file(), then, then);
  await visit();
  await testing.rows(project, 'SELECT 1');
  await visit();
  await testing.restart();
  await visit();
  expect(looks).toBe(1);
});
