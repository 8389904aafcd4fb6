import { afterAll, beforeAll, describe, expect, test } from '@jest/globals';
import { messageListAnswer } from '@suzumio/contract/operations/messages';
import { conversationAnswer, turnListAnswer } from '@suzumio/contract/operations/turns';
import { turnDetail } from '@suzumio/contract/model/turn';
import { postMessage } from '@suzumio/store/mail/post-message';
import { type TestApi, testApi } from './support/api.js';
import { beginTurn, failTurn, playTurn } from './support/play.js';

const path = '/api/projects/team';
let api: TestApi;
beforeAll(async () => {
  api = await testApi();
  await api.create();
  await playTurn(api, 'team', 'ada', 'messages.send', (tx, { turn }) => {
    postMessage(tx, { sender: 'ada', recipient: 'cat', priority: 'P1', body: 'For Cat.', actor: 'ada', turn });
  });
  await failTurn(api, 'team', 'ben');
});
afterAll(() => api.close());

describe('a list of turns', () => {
  test('has the attempts of each, who woke it, and what its models came to, where that is asked for', async () => {
    const { items } = turnListAnswer.parse(
      (await api.get(`${path}/turns?include=attempts,wokenBy&include=asked`)).json,
    );
    const ended = items.filter(({ endedAt }) => endedAt !== null);
    expect(ended.map(({ agent, attempts, wokenBy, asked }) => ({ agent, attempts, wokenBy, asked }))).toMatchObject([
      {
        agent: 'ada',
        attempts: [{ number: 1, status: 'completed', worker: 'worker-1', code: null }],
        wokenBy: { sender: 'user', messages: 1 },
        asked: { calls: 0, inputTokens: 0, outputTokens: 0, costUsd: 0 },
      },
      { agent: 'ben', attempts: [{ number: 1, status: 'failed', code: 'non-zero-exit' }] },
    ]);
    expect(items[0]?.attempts?.[0]?.endedAt).toEqual(expect.any(String));
  });

  test('has nothing of it otherwise', async () => {
    const { items } = turnListAnswer.parse((await api.get(`${path}/turns`)).json);
    expect(Object.keys(items[0] ?? {})).not.toEqual(expect.arrayContaining(['attempts']));
    expect((await api.get(`${path}/turns?include=everything`)).status).toBe(400);
  });
});

test('a turn can be read without its calls, which are a list of their own', async () => {
  expect(turnDetail.parse((await api.get(`${path}/turns/ada:1`)).json).calls).toHaveLength(1);
  expect(turnDetail.parse((await api.get(`${path}/turns/ada:1?without=calls`)).json)).toMatchObject({
    calls: [],
    toolCalls: 1,
  });
});

test('the mail of a turn is what it was given, and what it has sent', async () => {
  const bodies = async (turn: string) =>
    messageListAnswer.parse((await api.get(`${path}/messages?turn=${turn}`)).json).items.map(({ body }) => body);
  expect(await bodies('ada:1')).toEqual(['Please begin.', 'For Cat.']);
  expect(await bodies('ben:1')).toEqual(['Please begin.']);
});

describe('a conversation', () => {
  const steps = async (turn: string) => {
    const { items } = conversationAnswer.parse((await api.get(`${path}/turns/${turn}/conversation?after=0`)).json);
    return items.filter(({ step }) => step !== null);
  };

  test('has what each call was made with, what became of it, and when', async () => {
    const [call] = await steps('ada:1');
    expect(call).toMatchObject({ tool: 'messages.send', input: '{}', status: 'succeeded', code: null });
    expect([call?.startedAt, call?.endedAt]).toEqual([expect.any(String), expect.any(String)]);
  });

  test('has calls that still run, and those that were refused without a record, in the order of their beginning', async () => {
    const { turn } = await beginTurn(api, 'team', 'cat');
    await api.write('team', (tx) => {
      for (const [step, status] of [
        ['0', 'refused'],
        ['1', 'running'],
      ] as const) {
        tx.insert('tool_calls', {
          id: `call_${step}`,
          turn_id: turn,
          agent_id: 'cat',
          attempt: 1,
          step,
          tool: 'shell.exec',
          input_json: '{"command":"wc -l"}',
          status,
          output_json: status === 'refused' ? '{"message":"It may not."}' : null,
          error_code: status === 'refused' ? 'tool-denied' : null,
          started_at_ms: tx.nowMs,
          ended_at_ms: status === 'refused' ? tx.nowMs : null,
        });
      }
    });
    expect(await steps('cat:1')).toMatchObject([
      { step: '0', status: 'refused', code: 'tool-denied' },
      { step: '1', status: 'running', code: null, text: '', input: '{"command":"wc -l"}', endedAt: null },
    ]);
  });
});
