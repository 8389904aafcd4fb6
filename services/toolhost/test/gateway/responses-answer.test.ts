import { afterAll, beforeAll, beforeEach, describe, expect, test } from '@jest/globals';
import type { ModelAnswer } from '@suzumio/protocol/model-chat';
import { type Behaviour, type ModelServer, startModelServer } from '../../../../test/support/model-server.js';
import { responseEvent as event } from '../../../../test/support/responses-wire.js';
import { askProvider, written } from '../../src/gateway/ask-provider.js';
import { ProviderFailure } from '../../src/gateway/provider-failure.js';
import { responsesFormat } from '../../src/gateway/responses.js';

let server: ModelServer;
let behaviour: Behaviour;

beforeAll(async () => {
  server = await startModelServer(() => behaviour);
});
afterAll(() => server.close());
beforeEach(() => {
  behaviour = { text: 'Yes.' };
});

function ask(stream = true, onText?: (text: string) => void): Promise<ModelAnswer> {
  const request = {
    baseURL: server.baseURL,
    format: responsesFormat,
    headers: {},
    body: { model: 'm', input: [], stream },
    timeoutMs: 10_000,
    silenceMs: 5_000,
  };
  return askProvider(written(request), onText);
}

const added = (index: number, item: object) => event('response.output_item.added', { output_index: index, item });
const done = (index: number, item: object) => event('response.output_item.done', { output_index: index, item });
const said = (index: number, delta: string) => event('response.output_text.delta', { output_index: index, delta });
const writtenAs = (index: number, delta: string) =>
  event('response.function_call_arguments.delta', { output_index: index, delta });
const completed = (response: object = {}) =>
  event('response.completed', { response: { status: 'completed', model: 'scripted-1', output: [], ...response } });
const called = (id: string, name: string, args = '') => ({ type: 'function_call', call_id: id, name, arguments: args });

describe('an answer in the Responses format', () => {
  test.each([true, false])('is the same whether it is streamed (%s) or whole', async (stream) => {
    behaviour = {
      text: 'I will look, «gauge» 🌊.',
      calls: [
        { id: 'a', name: 'artifacts_list', arguments: {} },
        { id: 'b', name: 'messages_send', arguments: { recipient: 'editor', body: 'é "quoted"\n' } },
      ],
      usage: { input: 100, output: 20 },
    };
    expect(await ask(stream)).toEqual({
      text: 'I will look, «gauge» 🌊.',
      toolCalls: [
        { id: 'a', name: 'artifacts_list', arguments: '{}' },
        { id: 'b', name: 'messages_send', arguments: '{"recipient":"editor","body":"é \\"quoted\\"\\n"}' },
      ],
      finishReason: 'tool_calls',
      usage: { inputTokens: 100, outputTokens: 20, cachedTokens: 4, reasoningTokens: 3 },
      model: 'scripted-1',
    });
    expect(server.requests.at(-1)?.path).toBe('/v1/responses');
  });

  test('is handed on while it comes', async () => {
    behaviour = { text: 'a text that is longer than one piece' };
    const pieces: string[] = [];
    expect(await ask(true, (text) => pieces.push(text))).toMatchObject({ finishReason: 'stop', toolCalls: [] });
    expect(pieces.length).toBeGreaterThan(4);
    expect(pieces.join('')).toBe('a text that is longer than one piece');
  });

  test.each([
    ['length', 'length'],
    ['content_filter', 'content_filter'],
  ])('that is incomplete says why: %s', async (finish, finishReason) => {
    for (const stream of [true, false]) {
      behaviour = { text: 'Only the begin', finish };
      expect(await ask(stream)).toMatchObject({ text: 'Only the begin', finishReason });
    }
  });

  test('is put together from items whose parts are interleaved, and whose calls come in splinters', async () => {
    behaviour = {
      lines: [
        added(0, { type: 'message', content: [] }),
        added(2, called('b', 'two')),
        said(0, 'Both '),
        writtenAs(2, '{"n"'),
        added(1, called('a', 'one')),
        ': keep-alive\n',
        writtenAs(1, '{'),
        writtenAs(2, ':2}'),
        said(0, 'now.'),
        writtenAs(1, '}'),
        done(1, called('a', 'one', '{}')),
        done(2, called('b', 'two', '{"n":2}')),
        completed(),
      ],
    };
    expect(await ask()).toMatchObject({
      text: 'Both now.',
      toolCalls: [
        { id: 'b', name: 'two', arguments: '{"n":2}' },
        { id: 'a', name: 'one', arguments: '{}' },
      ],
      finishReason: 'tool_calls',
    });
  });

  test.each<[string, string[]]>([
    ['the end of the item', [added(0, called('a', 'one')), done(0, called('a', 'one', '{"n":1}')), completed()]],
    ['the end of the item alone', [done(0, called('a', 'one', '{"n":1}')), completed()]],
    ['the end of the answer', [completed({ output: [called('a', 'one', '{"n":1}')] })]],
  ])('that brings a call only with %s has it once', async (_name, lines) => {
    behaviour = { lines };
    expect((await ask()).toolCalls).toEqual([{ id: 'a', name: 'one', arguments: '{"n":1}' }]);
  });

  test('of several messages is one text, in paragraphs; what is thought and what is unknown is no part of it', async () => {
    behaviour = {
      lines: [
        event('response.reasoning_summary_text.delta', { output_index: 0, delta: 'Hm.' }),
        done(0, { type: 'reasoning', summary: [{ type: 'summary_text', text: 'Hm.' }], content: null }),
        said(1, 'First.'),
        event('response.something_new', { delta: { of: 'another kind' } }),
        said(2, 'Then.'),
        completed({ usage: null }),
      ],
    };
    const answer = await ask();
    expect(answer.text).toBe('First.\n\nThen.');
    expect(answer.usage).toBeUndefined();
  });

  test('that is a refusal is told as one', async () => {
    const content = [{ type: 'refusal', refusal: 'I will not.' }];
    behaviour = {
      lines: [
        event('response.refusal.delta', { output_index: 0, delta: 'I will ' }),
        event('response.refusal.delta', { output_index: 0, delta: 'not.' }),
        completed({ output: [{ type: 'message', content }] }),
      ],
    };
    expect(await ask()).toMatchObject({ text: '', refusal: 'I will not.' });
    behaviour = { status: 200, body: { status: 'completed', output: [{ type: 'message', content }] } };
    expect(await ask(false)).toMatchObject({ text: '', refusal: 'I will not.' });
  });
});

describe('a failure in the Responses format', () => {
  const failed = (error: object) => event('response.failed', { response: { status: 'failed', error, output: [] } });

  test.each<[string, Behaviour, ProviderFailure['kind']]>([
    ['a failed answer', { lines: [said(0, 'I'), failed({ code: 'server_error', message: 'sorry' })] }, 'unavailable'],
    ['a limit', { lines: [failed({ code: 'rate_limit_exceeded', message: 'slow down' })] }, 'unavailable'],
    ['a question that is refused', { lines: [failed({ code: 'invalid_prompt', message: 'no' })] }, 'request-refused'],
    [
      'a conversation that is too long',
      { lines: [failed({ code: 'context_length_exceeded', message: 'too long' })] },
      'context-overflow',
    ],
    ['an error event', { lines: [event('error', { code: 'server_error', message: 'gone' })] }, 'unavailable'],
    ['an error in an event', { lines: [event('error', { error: { message: 'overloaded' } })] }, 'unavailable'],
    ['a stream that is cut', { lines: [said(0, 'I was about')], cut: true }, 'unavailable'],
    ['a stream that ends early', { lines: [said(0, 'I was about')] }, 'unavailable'],
    ['a stream of something else', { lines: ['data: {"choices":[]}\n'] }, 'unavailable'],
    ['an event that is broken', { lines: [event('response.output_text.delta', { delta: 7 })] }, 'unavailable'],
    ['an answer that was given up', { status: 200, body: { status: 'cancelled', output: [] } }, 'unavailable'],
    [
      'a whole answer that failed',
      { status: 200, body: { status: 'failed', error: { code: 'server_error' } } },
      'unavailable',
    ],
    ['no answer at all', { status: 200, body: { ok: true } }, 'unavailable'],
    ['a server without the format', { status: 404, body: '404 page not found' }, 'model-unknown'],
    ['429', { status: 429 }, 'unavailable'],
  ])('%s is told apart', async (_name, given, kind) => {
    behaviour = given;
    const error: unknown = await ask().catch((reason: unknown) => reason);
    expect(error).toBeInstanceOf(ProviderFailure);
    expect((error as ProviderFailure).kind).toBe(kind);
  });
});
