import { afterAll, beforeAll, expect, test } from '@jest/globals';
import { postMessage } from '@suzumio/store/mail/post-message';
import { replyToMessage } from '@suzumio/store/mail/reply-to-message';
import { listThreads } from '@suzumio/store/mail/threads';
import type { Page } from '@suzumio/store/sqlite/page';
import { noon, type TestCell, testCell } from '../../../../test/support/cell.js';

let testing: TestCell;
let project: string;
beforeAll(async () => {
  testing = await testCell({ startMs: noon });
  project = await testing.create();
  const mail = { sender: 'user', recipient: 'ben', priority: 'P1', actor: 'test' } as const;
  await testing.write(project, (tx) => {
    const { id } = postMessage(tx, { ...mail, body: 'The north\n\ngauge, please.' });
    postMessage(tx, { ...mail, body: 'And the south one.' });
    replyToMessage(tx, { message: id, sender: 'user', recipient: 'ada', priority: 'P0', body: 'Ada?', actor: 'test' });
    postMessage(tx, { ...mail, recipient: undefined, channel: '#team', body: 'x'.repeat(1_000) });
  });
});
afterAll(() => testing.close());

const threads = (page: Partial<Page> = {}) =>
  testing.store(project, ({ reader }) => listThreads(reader, { limit: 10, ...page }));

test('threads are listed by their last messages, with how they began and what is unread', async () => {
  const { items } = await threads({ order: 'desc' });
  expect(items.map(({ seq, messages, unread }) => ({ seq, messages, unread }))).toEqual([
    { seq: 4, messages: 1, unread: 1 },
    { seq: 3, messages: 2, unread: 2 },
    { seq: 2, messages: 1, unread: 1 },
  ]);
  expect(items[1]).toMatchObject({
    first: { seq: 1, recipient: 'ben', priority: 'P1', excerpt: 'The north gauge, please.' },
    last: { seq: 3, recipient: 'ada', priority: 'P0', excerpt: 'Ada?' },
  });
  expect(items[0]?.first).toEqual(items[0]?.last);
  expect(items[0]?.last.excerpt).toHaveLength(160);
});

test('they are read in parts, each once', async () => {
  const newest = await threads({ order: 'desc', limit: 2 });
  expect(newest.items.map(({ seq }) => seq)).toEqual([4, 3]);
  const older = await threads({ order: 'desc', limit: 2, before: newest.previous });
  expect(older.items.map(({ seq }) => seq)).toEqual([2]);
  expect(older.previous).toBeUndefined();
});
