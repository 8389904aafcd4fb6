import { expect, test } from '@jest/globals';
import { wordsOf } from '../src/parts/act-words.js';

test.each([
  [
    'project.labelled',
    { set: { number: '25', urgent: 'yes' }, removed: ['old'] },
    'set "number" to "25", set "urgent" to "yes", removed "old"',
  ],
  ['project.initialized', { agents: ['ada', 'ben'], channels: [] }, 'agents ada, ben'],
  ['project.changes-requested', { version: 2, recipient: 'ada' }, 'version 2, mail to ada'],
  ['project.stopped', { now: true }, 'at once'],
  ['project.stopped', { now: false }, ''],
  ['project.paused', { reason: null }, ''],
  ['project.paused', { reason: 'It is night.' }, 'It is night.'],
  [
    'config.changed',
    { version: 3, changes: 7, changed: ['a', 'b', 'c', 'd', 'e', 'f'], added: [], retired: [] },
    'a, b, c, d, e and 1 more',
  ],
  ['message.redelivered', { message: 'msg_1', seq: 12, turnNumber: 3 }, 'message 12, read in turn 3'],
  ['message.redacted', { message: 'msg_1', seq: 12, because: 'A key.' }, 'message 12, because: A key.'],
  ['memory.noted', { note: 'note_1', sizeBytes: 140 }, '140 B'],
  ['turn.queued', { number: 3, retry: true }, 'turn 3'],
  ['turn.cancelled', { number: 3, reason: 'Not now.' }, 'turn 3, Not now.'],
  [
    'workspace.restored',
    { turnNumber: 3, files: { added: 2, changed: 1, removed: 0 } },
    'as after turn 3, 2 files added, 1 file changed',
  ],
  [
    'workspace.restored',
    { turnNumber: 0, files: { added: 0, changed: 0, removed: 1 } },
    'as before the first turn, 1 file removed',
  ],
  [
    'git.pushed',
    {
      push: 1,
      updates: [
        { ref: 'refs/heads/main', from: null, to: '8d3e12f4aa00' },
        { ref: 'refs/heads/old', from: 'a', to: null },
      ],
      objects: 3,
      sizeBytes: 9,
    },
    'main to 8d3e12f4, old removed',
  ],
  ['agent.stopped', { now: false, afterTurn: 4 }, 'after turn 4'],
  ['agent.reset', { redelivered: ['msg_1', 'msg_2'] }, '2 messages unread again'],
  ['budget.changed', { usd: 5, tokens: 'unlimited', turns: 20 }, '$5.00, unlimited tokens, 20 turns'],
  ['an.act-of-tomorrow', { files: { added: 2 }, of: ['a', 'b'], why: null }, 'files added 2, of a, b'],
] as const)('%s is told in words', (type, data, words) => {
  expect(wordsOf(type, data)).toBe(words);
});

test('what others wrote is cut, and shown for what it is', () => {
  const long = 'x'.repeat(10_000_000);
  expect(wordsOf('project.labelled', { set: { key: `${long}\u202E` }, removed: [long] }).length).toBeLessThan(500);
  expect(wordsOf('project.paused', { reason: '\u202Enight' })).toBe('‹202E›night');
});
