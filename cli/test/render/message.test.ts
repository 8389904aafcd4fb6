import { describe, expect, test } from '@jest/globals';
import type { MessageDetail, MessageView } from '@suzumio/contract/model/message';
import { renderMessage, renderThread } from '@suzumio/cli/render/message';

const at = (second: number) => `2026-11-21T20:14:${String(second).padStart(2, '0')}.000Z`;

const task: MessageView = {
  id: 'msg_01KB3Z0000000000000000000A',
  seq: 11,
  sender: 'manager',
  recipient: '@researchers',
  channel: null,
  priority: 'P1',
  kind: 'broadcast',
  body: `Please look into these suppliers.\n${'Every figure wants a source that can be looked up. '.repeat(3)}\n\u001b[31mRed`,
  threadId: 'msg_01KB3Z0000000000000000000A',
  replyTo: null,
  turn: null,
  actor: 'manager',
  createdAt: at(2),
  redacted: null,
  attachments: [{ id: 'art_01', name: 'list.csv', kind: 'file', files: 1, sizeBytes: 1_200 }],
  recipients: [
    {
      agent: 'researcher-1',
      turn: 'turn_1',
      turnNumber: 1,
      turnStatus: 'completed',
      readAt: at(3),
      undelivered: false,
    },
    { agent: 'researcher-2', turn: 'turn_2', turnNumber: 2, turnStatus: 'failed', readAt: at(3), undelivered: true },
    { agent: 'researcher-3', turn: null, turnNumber: null, turnStatus: null, readAt: null, undelivered: false },
  ],
  delivery: { recipients: 3, read: 2, undelivered: 1 },
};

const failure = { code: 'non-zero-exit' as const, message: 'The runner ended with exit code 3.' };
const attempt = (number: number, status: 'completed' | 'failed') => ({
  number,
  status,
  failure: status === 'failed' ? failure : null,
  startedAt: at(3),
  endedAt: at(9),
});

const detail: MessageDetail = {
  ...task,
  receipts: [
    {
      agent: 'researcher-1',
      unread: false,
      reads: [
        {
          turn: 'turn_0',
          turnNumber: 4,
          status: 'failed',
          failure,
          attempts: [attempt(1, 'failed')],
          readAt: at(3),
          undelivered: false,
          voidedAt: at(5),
        },
        {
          turn: 'turn_1',
          turnNumber: 5,
          status: 'completed',
          failure: null,
          attempts: [attempt(1, 'failed'), attempt(2, 'completed')],
          readAt: at(6),
          undelivered: false,
          voidedAt: null,
        },
      ],
    },
    {
      agent: 'researcher-2',
      unread: false,
      reads: [
        {
          turn: 'turn_2',
          turnNumber: 1,
          status: 'failed',
          failure,
          attempts: [attempt(1, 'failed')],
          readAt: at(3),
          undelivered: true,
          voidedAt: null,
        },
      ],
    },
    { agent: 'researcher-3', unread: true, reads: [] },
  ],
};

const answer: MessageView = {
  ...task,
  id: 'msg_01KB3Z0000000000000000000B',
  seq: 12,
  sender: 'researcher-1',
  recipient: 'manager',
  kind: 'reply',
  body: 'Done.',
  replyTo: task.id,
  createdAt: at(8),
  redacted: null,
  attachments: [],
  recipients: [{ agent: 'manager', turn: null, turnNumber: null, turnStatus: null, readAt: null, undelivered: false }],
  delivery: { recipients: 1, read: 0, undelivered: 0 },
};

const style = (columns: number | undefined) => ({
  out: { write: () => undefined, drained: () => Promise.resolve(), isTerminal: true, colors: false, columns },
  timeZone: 'UTC',
});

test('a message says what became of it with each that it went to', () => {
  expect(renderMessage(detail, undefined, style(120)).join('\n')).toBe(`\
message  11  (msg_01KB3Z0000000000000000000A)
from     manager
to       @researchers
sent     2026-11-21 20:14:02, P1, broadcast
carries  list.csv, 1.2 kB  (art_01)

AGENT         STATE        TURN            ATTEMPTS  READ                 OUTCOME
researcher-1  given back   researcher-1:4  1         2026-11-21 20:14:03  failed: non-zero-exit: The runner ended with …
researcher-1  read         researcher-1:5  2         2026-11-21 20:14:06  completed
researcher-2  undelivered  researcher-2:1  1         2026-11-21 20:14:03  failed: non-zero-exit: The runner ended with …
researcher-3  unread

  Please look into these suppliers.
  Every figure wants a source that can be looked up. Every figure wants a source that can be looked up. Every figure
  wants a source that can be looked up.
  \\u{1b}[31mRed`);
});

test('an answer names what it answers, and a person by the name of the token', () => {
  const mine = { ...detail, ...answer, sender: 'user', actor: 'ann', receipts: [] };
  expect(renderMessage(mine, task, style(80))).toEqual([
    'message  12  (msg_01KB3Z0000000000000000000B)',
    'from     user, by ann',
    'to       manager',
    'sent     2026-11-21 20:14:08, P1, reply',
    'answers  11 from manager',
    '',
    'It went to no agent.',
    '',
    '  Done.',
  ]);
});

test('a thread reads as a conversation', () => {
  expect(renderThread([task, answer], style(100)).join('\n')).toBe(`\
11  manager -> @researchers  broadcast, P1, undelivered, +list.csv  2026-11-21 20:14:02
    Please look into these suppliers.
    Every figure wants a source that can be looked up. Every figure wants a source that can be
    looked up. Every figure wants a source that can be looked up.
    \\u{1b}[31mRed

12  researcher-1 -> manager  reply to 11, P1, unread  2026-11-21 20:14:08
    Done.`);
});

describe.each([80, 120])('in %d columns', (columns) => {
  test('no line is longer', () => {
    const shown = [
      ...renderMessage(detail, undefined, style(columns)),
      ...renderThread([task, answer, { ...answer, body: 'x'.repeat(500) }], style(columns)),
    ];
    expect(shown.filter((line) => line.length > columns)).toEqual([]);
  });
});

test('a pipe gets every line whole', () => {
  const shown = renderMessage(detail, undefined, style(undefined));
  expect(shown).toContain(`  ${'Every figure wants a source that can be looked up. '.repeat(3).trimEnd()}`);
  expect(shown.find((line) => line.startsWith('researcher-2'))).toMatch(/The runner ended with exit code 3\.$/);
});
