import { afterAll, beforeAll, expect, test } from '@jest/globals';
import { pageBytes } from '@suzumio/store/sqlite/page';
import { findMessage, listInbox, listMessages } from '@suzumio/store/mail/messages';
import { broadcast } from '@suzumio/store/mail/broadcast';
import { postMessage } from '@suzumio/store/mail/post-message';
import { maxMessageBytes } from '@suzumio/protocol/content';
import { type TestCell, testCell } from '../../../test/support/cell.js';

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
  testing.store(project, ({ reader }) => listMessages(reader, page).items.map(({ seq }) => seq));

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

test('messages to very many are shown with the first of them and how many there are, few in a part', async () => {
  const crowd = await testing.create(`
name: crowd
task: Listen.
backend: { runner: { mode: mock } }
agents:
  agent: { role: listener, prompt: Listen., count: 300 }
`);
  let id = '';
  for (let number = 1; number <= 70; number += 1) {
    await testing.write(crowd, (tx) => {
      ({ id } = broadcast(tx, { sender: 'user', priority: 'P1', body: 'All.', actor: 'test' }));
    });
  }
  await testing.store(crowd, ({ reader }) => {
    const part = listMessages(reader, { limit: 1_000 }).items;
    expect(part.map(({ seq }) => seq)).toEqual(Array.from({ length: 67 }, (_, index) => index + 4));
    expect(new Set(part.map(({ recipients }) => recipients.length))).toEqual(new Set([50]));
    expect(part[0]?.delivery).toEqual({ recipients: 300, read: 0, undelivered: 0 });
    expect(findMessage(reader, id)?.recipients).toHaveLength(300);
    const [own] = listInbox(reader, { limit: 1, agent: 'agent-99', undelivered: false }).items;
    expect(own?.recipients.map(({ agent }) => agent)).toContain('agent-99');
  });
});
