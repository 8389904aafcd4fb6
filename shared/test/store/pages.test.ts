import { afterAll, beforeAll, expect, test } from '@jest/globals';
import { pageBytes } from '@suzumio/shared/store/queries/page';
import { listMessages } from '@suzumio/shared/store/queries/messages';
import { maxMessageBytes, postMessage } from '@suzumio/shared/store/verbs/post-message';
import { type TestCell, testCell } from '../support/cell.js';

const messages = 40;
const perPart = pageBytes / maxMessageBytes;

let testing: TestCell;
let project: string;
beforeAll(async () => {
  testing = await testCell();
  project = await testing.create();
  // However it begins: for SQLite's own measure, a text ends where it has a NUL.
  const body = `\0${'x'.repeat(maxMessageBytes - 1)}`;
  for (let number = 1; number <= messages; number += 1) {
    await testing.write(project, (tx) =>
      postMessage(tx, { sender: 'user', recipient: 'ada', priority: 'P1', body, actor: 'test' }),
    );
  }
});
afterAll(() => testing.close());

const seqs = (page: { limit: number; after?: number }) =>
  testing.store(project, ({ reader }) => listMessages(reader, page).map(({ seq }) => seq));

test('a part of a list ends before it has more text than can be sent at once, and the next goes on there', async () => {
  const parts: number[][] = [];
  for (let after = 0; ; after = parts.at(-1)?.at(-1) ?? 0) {
    const part = await seqs({ limit: 1_000, after });
    if (part.length === 0) break;
    parts.push(part);
  }
  expect(parts.map((part) => part.length)).toEqual([perPart, perPart, messages - 2 * perPart]);
  expect(parts.flat()).toEqual(Array.from({ length: messages }, (_, index) => index + 1));
});

test('the newest are those that are left out last', async () => {
  const newest = await seqs({ limit: 1_000 });
  expect(newest).toEqual(Array.from({ length: perPart }, (_, index) => messages - perPart + index + 1));
  expect(await seqs({ limit: 2 })).toEqual([messages - 1, messages]);
});
