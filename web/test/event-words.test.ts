import { expect, test } from '@jest/globals';
import { eventTypes } from '@suzumio/contract/model/event';
import type { Agent, Event } from '@suzumio/sdk/client';
import { saidOf } from '../src/pages/project/event-words.js';

const agents = [{ id: 'ben', displayName: 'Benny' }] as unknown as Agent[];

function said(
  type: string,
  data: object,
  { actor = 'system', agent = 'ben' }: { actor?: string; agent?: string | null } = {},
): string {
  const event = { id: '1-1', seq: 1, type, actor, agent, turn: null, createdAt: '2026-11-28T05:00:00Z', data };
  const { subject, words } = saidOf(event as unknown as Event, 'team', agents);
  return `${subject} ${words.map((one) => (typeof one === 'string' ? one : one.text)).join('')}`;
}

test('every event of this version has words of its own, also where its fields are missing', () => {
  const raw = eventTypes.filter(
    (type) => said(type, {}).includes(type) || said(type, {}, { agent: null }).includes(type),
  );
  expect(raw).toEqual([]);
});

test.each([
  [
    'turn.completed',
    { number: 3, durationMs: 341, calls: 4, messages: 1, artifacts: 0, files: { added: 1, changed: 0, removed: 0 } },
    {},
    'Benny turn 3 done in 341 ms, 4 tool calls, 1 message, files +1 ~0 −0',
  ],
  [
    'turn.started',
    { number: 3, attempt: 2, worker: 'east', backend: 'docker', sinceQueuedMs: 1, sinceMessageMs: 70 },
    {},
    'Benny turn 3 began on east, attempt 2, 70 ms after the message',
  ],
  [
    'turn.cancelled',
    { number: 3, reason: 'too long' },
    { actor: 'maria' },
    'maria cancelled a turn of Benny: turn 3, too long',
  ],
  [
    'message.created',
    { message: 'msg_1', sender: 'user', recipient: 'ben', priority: 'P1', excerpt: 'The gauge,\nplease.' },
    { actor: 'admin', agent: null },
    'You to Benny, P1: The gauge, please.',
  ],
  [
    'message.created',
    { message: 'msg_1', sender: 'ben', channel: '#all', priority: 'P2', excerpt: 'x', attachments: [{}] },
    {},
    'Benny to #all, P2: x, 1 attachment',
  ],
  [
    'tool.called',
    { tool: 'shell.exec', step: '1.0', attempt: 1, outcome: 'refused', code: 'input-invalid' },
    { actor: 'ben' },
    'Benny called shell.exec, which was refused: input-invalid',
  ],
  ['agent.paused', { reason: 'It is night.' }, { actor: 'maria' }, 'maria paused Benny: It is night.'],
  ['agent.paused', { reason: '12 turns in an hour' }, {}, 'Benny was paused: 12 turns in an hour'],
  ['budget.changed', { usd: 3 }, { actor: 'maria', agent: null }, 'maria changed a budget: $3.00'],
  [
    'project.labelled',
    { set: { gauge: 'north' }, removed: ['old'] },
    { actor: 'maria', agent: null },
    'maria changed the labels: set "gauge" to "north", removed "old"',
  ],
  [
    'git.pushed',
    { push: 1, updates: [{ ref: 'refs/heads/main', from: null, to: '8d3e12f4aa00' }] },
    { actor: 'ben' },
    'Benny pushed main to 8d3e12f4',
  ],
  [
    'model.answered',
    { model: 'm', inputTokens: 120, cachedTokens: 114, outputTokens: 1, nanoUsd: 2e7, durationMs: 3_000, calls: 0 },
    { actor: 'ben' },
    'Benny was answered by m in 3.0 s: 120 tokens in (114 cached), 1 token out, $0.02',
  ],
  [
    'artifact.published',
    { artifact: 'art_1', name: 'a\u202Eb', sizeBytes: 254 },
    { actor: 'ben' },
    'Benny published a‹202E›b, 254 B',
  ],
  ['weather.changed', { wind: 3, to: { north: 1 } }, {}, 'Benny weather.changed: wind 3, to north 1'],
])('%s of %j is said', (type, data, of, sentence) => {
  expect(said(type, data, of)).toBe(sentence);
});
