import { describe, expect, test } from '@jest/globals';
import { mockScript } from '@suzumio/protocol/mock-script';
import type { RunnerTurnInput, TurnMail } from '@suzumio/protocol/runner';
import { findRule } from '@suzumio/runner/mock/find-rule';

const mail = (fields: Partial<TurnMail>): TurnMail => ({
  id: 'msg_1',
  sender: 'editor',
  priority: 'P1',
  kind: 'direct',
  threadId: 'msg_1',
  body: 'The north gauge, please.',
  createdAt: '2026-11-21T20:14:03Z',
  ...fields,
});

const input: RunnerTurnInput = {
  project: 'newsroom',
  agent: { id: 'reporter-1', base: 'reporter', role: 'reporter', prompt: '' },
  turn: {
    id: 'turn_01KB3Z0000000000000000000A',
    prompt: '',
    number: 2,
    attempt: 1,
    mail: [mail({}), mail({ sender: 'checker', body: 'REVISE', channel: '#newsroom', kind: 'reply', priority: 'P0' })],
  },
  workspace: '/workspace',
  controllerUrl: 'unix:/turn/door/door.sock',
  token: 't',
  runner: { mode: 'mock' },
  tools: [],
};

describe('a rule', () => {
  test.each([
    [true, {}],
    [true, { from: 'editor' }],
    [false, { from: 'user' }],
    [true, { contains: 'gauge' }],
    [false, { contains: 'GAUGE' }],
    [true, { from: 'editor', contains: 'gauge' }],
    [false, { from: 'checker', contains: 'gauge' }],
    [true, { from: 'checker', channel: '#newsroom', kind: 'reply', priority: 'P0', contains: 'REVISE' }],
    [false, { channel: '#project' }],
    [false, { kind: 'task' }],
    [false, { from: 'editor', priority: 'P0' }],
    [true, { turn: 2 }],
    [false, { turn: 1 }],
    [true, { attempt: 1, turn: 2, from: 'checker' }],
    [false, { attempt: 2 }],
    [false, { turn: 1, from: 'checker' }],
  ])('is played: %s, when %j', (played, when) => {
    const script = mockScript.parse([{ agent: 'reporter', when, steps: [] }]);
    expect(findRule(script, input)).toBe(played ? script[0] : undefined);
  });

  test.each([
    ['reporter', true],
    ['reporter-1', true],
    ['reporter-2', false],
    ['editor', false],
  ])('for agent %s is played: %s', (agent, played) => {
    expect(findRule(mockScript.parse([{ agent, steps: [] }]), input) !== undefined).toBe(played);
  });

  test('that comes first is played', () => {
    const script = mockScript.parse([
      { agent: 'reporter', when: { turn: 1 }, steps: [] },
      { agent: 'reporter', when: { turn: 2 }, steps: [{ text: 'second' }] },
      { agent: 'reporter', steps: [{ text: 'third' }] },
    ]);
    expect(findRule(script, input)).toBe(script[1]);
  });

  test('on mail is not played for a runner that got none', () => {
    const { id, prompt } = input.turn;
    expect(
      findRule(mockScript.parse([{ agent: 'reporter', when: { contains: '' }, steps: [] }]), {
        ...input,
        turn: { id, prompt },
      }),
    ).toBeUndefined();
  });
});
