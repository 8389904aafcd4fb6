import { afterAll, beforeAll, beforeEach, describe, expect, test } from '@jest/globals';
import type { ModelAnswer } from '@suzumio/protocol/model-chat';
import { type Behaviour, event, type ModelServer, startModelServer } from '../../../../test/support/model-server.js';
import { maxAnswerChars } from '../../src/gateway/answer-builder.js';
import { chatFormat } from '../../src/gateway/chat.js';
import { askProvider, type ProviderRequest, written } from '../../src/gateway/ask-provider.js';
import { ProviderFailure } from '../../src/gateway/provider-failure.js';

let server: ModelServer;
let behaviour: Behaviour;

beforeAll(async () => {
  server = await startModelServer(() => behaviour);
});
afterAll(() => server.close());
beforeEach(() => {
  behaviour = { text: 'Yes.' };
});

function ask(settings: Partial<ProviderRequest> & { stream?: boolean } = {}, onText?: (text: string) => void) {
  const { stream = true, ...others } = settings;
  const request: ProviderRequest = {
    baseURL: server.baseURL,
    format: chatFormat,
    headers: { authorization: 'Bearer key' },
    body: { model: 'm', messages: [{ role: 'user', content: 'Well?' }], stream },
    timeoutMs: 10_000,
    silenceMs: 5_000,
    ...others,
  };
  return askProvider(written(request), onText);
}

async function failureFrom(asked: Promise<ModelAnswer>): Promise<ProviderFailure> {
  const error: unknown = await asked.then(
    () => undefined,
    (reason: unknown) => reason,
  );
  if (error instanceof ProviderFailure) return error;
  throw new Error(`expected a failure of the provider, got ${String(error)}`);
}

const delta = (part: object, finish: string | null = null) =>
  event({ choices: [{ index: 0, delta: part, finish_reason: finish }] });
const callPart = (part: object) => delta({ tool_calls: [part] });
const done = 'data: [DONE]\n';

describe('an answer', () => {
  test.each([true, false])('is the same whether it is streamed (%s) or whole', async (stream) => {
    behaviour = {
      text: 'I will look, «gauge» 🌊.',
      calls: [
        { id: 'a', name: 'artifacts_list', arguments: {} },
        { id: 'b', name: 'messages_send', arguments: { recipient: 'editor', body: 'é "quoted"\n' } },
      ],
      usage: { input: 100, output: 20 },
    };
    expect(await ask({ stream })).toEqual({
      text: 'I will look, «gauge» 🌊.',
      toolCalls: [
        { id: 'a', name: 'artifacts_list', arguments: '{}' },
        { id: 'b', name: 'messages_send', arguments: '{"recipient":"editor","body":"é \\"quoted\\"\\n"}' },
      ],
      finishReason: 'tool_calls',
      usage: { inputTokens: 100, outputTokens: 20 },
      model: 'scripted-1',
    });
  });

  test('sends the key and asks below the base URL, whatever slash that ends with', async () => {
    await ask({ baseURL: `${server.baseURL}/` });
    expect(server.requests.at(-1)?.path).toBe('/v1/chat/completions');
    expect(server.requests.at(-1)?.headers.authorization).toBe('Bearer key');
  });

  test('is handed on while it comes', async () => {
    behaviour = { text: 'a text that is longer than one piece' };
    const pieces: string[] = [];
    await ask({}, (text) => pieces.push(text));
    expect(pieces.length).toBeGreaterThan(4);
    expect(pieces.join('')).toBe('a text that is longer than one piece');
  });

  test('is put together from calls whose parts are interleaved', async () => {
    behaviour = {
      lines: [
        callPart({ index: 1, id: 'b', function: { name: 'two', arguments: '{"n"' } }),
        callPart({ index: 0, id: 'a', function: { name: 'o', arguments: '' } }),
        callPart({ index: 1, function: { arguments: ':2' } }),
        callPart({ index: 0, function: { name: 'ne', arguments: '{}' } }),
        callPart({ index: 1, function: { arguments: '}' } }),
        delta({}, 'tool_calls'),
        done,
      ],
    };
    expect((await ask()).toolCalls).toEqual([
      { id: 'b', name: 'two', arguments: '{"n":2}' },
      { id: 'a', name: 'one', arguments: '{}' },
    ]);
  });

  test('survives what real servers send: comments, empty choices, nulls, no index, arguments as an object', async () => {
    behaviour = {
      lines: [
        ': keep-alive\n',
        event({ choices: [] }),
        delta({ role: 'assistant', content: null, refusal: null, tool_calls: null }),
        ': keep-alive\n',
        callPart({ id: 'x', function: { name: 'look', arguments: { at: 'north' } } }),
        event({ choices: null, usage: null }),
        delta({}, 'tool_calls'),
        event({ choices: [], usage: { prompt_tokens: 7, completion_tokens: null, total_tokens: null } }),
        done,
      ],
    };
    expect(await ask()).toMatchObject({
      text: '',
      toolCalls: [{ id: 'x', name: 'look', arguments: '{"at":"north"}' }],
    });
  });

  test('gets call ids of its own where the provider repeats one or sends none', async () => {
    behaviour = {
      lines: [
        callPart({ index: 0, id: 'same', function: { name: 'a', arguments: '{}' } }),
        callPart({ index: 1, id: 'same', function: { name: 'b', arguments: '{}' } }),
        callPart({ index: 2, function: { name: 'c', arguments: '{}' } }),
        delta({}, 'tool_calls'),
        done,
      ],
    };
    const nineSigns = expect.stringMatching(/^[0-9A-Za-z]{9}$/);
    expect((await ask()).toolCalls.map(({ id }) => id)).toEqual(['same', nineSigns, nineSigns]);
  });

  test('is whole when it says why it stopped, although the stream just ends', async () => {
    behaviour = { lines: [delta({ content: 'cut at the' }), delta({}, 'length')] };
    expect(await ask()).toMatchObject({ text: 'cut at the', finishReason: 'length' });
  });

  test('may come whole although a stream was asked for', async () => {
    behaviour = {
      status: 200,
      headers: { 'content-type': 'application/json' },
      body: { choices: [{ message: { content: 'plain' } }] },
    };
    expect(await ask()).toMatchObject({ text: 'plain', finishReason: null });
  });
});

describe('what an answer used', () => {
  const used = async (usage: object, text = 'Hi.') => {
    behaviour = { lines: [delta({ content: text }, 'stop'), event({ choices: [], usage }), done] };
    return (await ask()).usage;
  };

  test.each([
    [
      'in the total alone',
      { prompt_tokens: 10120, completion_tokens: 1499, total_tokens: 14428 },
      { inputTokens: 10120, outputTokens: 4308 },
    ],
    [
      'instead of what was said',
      {
        prompt_tokens: 21,
        completion_tokens: 0,
        total_tokens: 81,
        completion_tokens_details: { reasoning_tokens: 60 },
      },
      { inputTokens: 21, outputTokens: 60, reasoningTokens: 60 },
    ],
    [
      'beside it, and in no total',
      { prompt_tokens: 10, completion_tokens: 5, completion_tokens_details: { reasoning_tokens: 30 } },
      { inputTokens: 10, outputTokens: 35, reasoningTokens: 30 },
    ],
    [
      'within it, as most do',
      {
        prompt_tokens: 10,
        completion_tokens: 35,
        total_tokens: 45,
        completion_tokens_details: { reasoning_tokens: 30 },
      },
      { inputTokens: 10, outputTokens: 35, reasoningTokens: 30 },
    ],
  ])('has what was thought in it, where a provider counts that %s', async (_where, usage, counted) => {
    expect(await used(usage)).toEqual(counted);
  });

  test.each<[string, object, object]>([
    ['as OpenAI', { prompt_tokens_details: { cached_tokens: 30 } }, { cachedTokens: 30 }],
    ['as DeepSeek', { prompt_cache_hit_tokens: 30, prompt_cache_miss_tokens: 10 }, { cachedTokens: 30 }],
    ['as Kimi', { cached_tokens: 30 }, { cachedTokens: 30 }],
    [
      'as OpenRouter',
      { prompt_tokens_details: { cached_tokens: 30, cache_write_tokens: 4 } },
      { cachedTokens: 30, cacheWriteTokens: 4 },
    ],
    [
      'as Anthropic, beside zeros',
      {
        prompt_tokens_details: { cached_tokens: 0, cache_creation_tokens: 0 },
        cache_read_input_tokens: 30,
        cache_creation_input_tokens: 4,
      },
      { cachedTokens: 30, cacheWriteTokens: 4 },
    ],
    ['above the whole', { cached_tokens: 41, cache_write_tokens: 9 }, { cachedTokens: 40, cacheWriteTokens: 0 }],
    ['above the rest', { cached_tokens: 30, cache_write_tokens: 11 }, { cachedTokens: 30, cacheWriteTokens: 10 }],
    ['below zero', { prompt_cache_hit_tokens: -1, cache_write_tokens: -40 }, {}],
    ['absurdly', { cached_tokens: 1e30, cache_write_tokens: 'many', prompt_tokens_details: 'none' }, {}],
    ['in fractions', { cached_tokens: 0.5, cache_write_tokens: '2.5' }, { cachedTokens: 1, cacheWriteTokens: 3 }],
  ])('has what was cached in it, where a provider counts it %s', async (_where, cached, counted) => {
    expect(await used({ prompt_tokens: 40, completion_tokens: 2, ...cached })).toEqual({
      inputTokens: 40,
      outputTokens: 2,
      ...counted,
    });
  });

  test.each([
    ['no answer', { prompt_tokens: 40, completion_tokens: 0, total_tokens: 40 }],
    ['only a question', { prompt_tokens: 40 }],
    ['no question', { prompt_tokens: 0, completion_tokens: 9 }],
  ])('is not counted by a server that counts %s', async (_what, usage) => {
    expect(await used(usage)).toBeUndefined();
  });

  test('is what was counted, where nothing was said', async () => {
    expect(await used({ prompt_tokens: 40, completion_tokens: 0 }, '')).toEqual({ inputTokens: 40, outputTokens: 0 });
  });
});

describe('a failure', () => {
  test.each<[string, Behaviour, ProviderFailure['kind']]>([
    ['429', { status: 429, body: { error: { message: 'Slow down.', code: 'rate_limit_exceeded' } } }, 'unavailable'],
    ['500', { status: 500, body: 'oops' }, 'unavailable'],
    ['502 with a page', { status: 502, body: '<html><h1>Bad Gateway</h1></html>' }, 'unavailable'],
    ['a redirect', { status: 302, headers: { location: 'http://127.0.0.1:1/' } }, 'unavailable'],
    ['200 with a page', { status: 200, headers: { 'content-type': 'text/html' }, body: '<html>' }, 'unavailable'],
    ['200 with other JSON', { status: 200, body: { ok: true } }, 'unavailable'],
    ['a connection that is reset', { reset: true }, 'unavailable'],
    ['a stream that is cut', { lines: [delta({ content: 'I was about' })], cut: true }, 'unavailable'],
    ['a stream that ends early', { lines: [delta({ content: 'I was about' })] }, 'unavailable'],
    ['a stream of something else', { lines: ['data: {"choices": 7}\n'] }, 'unavailable'],
    ['a stream of no JSON', { lines: ['data: {"choi\n'] }, 'unavailable'],
    ['an error within the stream', { lines: [event({ error: { message: 'overloaded' } })] }, 'unavailable'],
    ['401', { status: 401, body: { error: { message: 'Incorrect API key provided: sk-***' } } }, 'key-rejected'],
    ['403', { status: 403 }, 'key-rejected'],
    ['404', { status: 404, body: { error: { code: 'model_not_found' } } }, 'model-unknown'],
    ['400', { status: 400, body: { error: { message: 'no such parameter' } } }, 'request-refused'],
    ['a known overflow', { status: 400, body: { error: { code: 'context_length_exceeded' } } }, 'context-overflow'],
    [
      "another server's overflow",
      { status: 400, body: { error: { message: 'the request exceeds the available context size' } } },
      'context-overflow',
    ],
    [
      'an endless text',
      { lines: Array<string>(9).fill(delta({ content: 'x'.repeat(maxAnswerChars / 8) })) },
      'answer-too-large',
    ],
    [
      'too many calls',
      { calls: Array.from({ length: 300 }, (_, n) => ({ id: `c${n}`, name: 'a', arguments: {} })) },
      'answer-too-large',
    ],
  ])('%s is told apart', async (_name, given, kind) => {
    behaviour = given;
    expect((await failureFrom(ask())).kind).toBe(kind);
  });

  test.each([
    ['3', 3_000],
    ['0.5', 500],
    [undefined, undefined],
    ['soon', undefined],
  ])('keeps what retry-after says: %s', async (header, retryAfterMs) => {
    behaviour = { status: 429, ...(header === undefined ? {} : { headers: { 'retry-after': header } }) };
    expect((await failureFrom(ask())).retryAfterMs).toBe(retryAfterMs);
  });

  test.each([
    ['a whole answer', 'application/json', '{"error": {"code": "rate_limit_exceeded", "message": "Slowly."}}'],
    ['a stream', 'text/event-stream', 'data: {"error": {"code": "overloaded", "message": "Slowly."}}\n\n'],
  ])('keeps what retry-after says of an error within %s', async (_name, type, body) => {
    behaviour = { status: 200, headers: { 'content-type': type, 'retry-after': '7' }, body };
    expect(await failureFrom(ask())).toMatchObject({ kind: 'unavailable', retryAfterMs: 7_000 });
  });

  test('is silence, at the start and in the middle', async () => {
    behaviour = { silent: true };
    expect((await failureFrom(ask({ timeoutMs: 200 }))).message).toBe('the provider did not finish within 0.2 s');
    behaviour = { lines: [delta({ content: 'Hm' }), 1_000, done] };
    expect((await failureFrom(ask({ silenceMs: 200 }))).message).toMatch(/nothing came for 0.2 s/);
  });

  test('is no pause before the first piece: a model may load or think', async () => {
    behaviour = { lines: [500, delta({ content: 'Hm.' }), delta({}, 'stop'), done] };
    expect(await ask({ silenceMs: 100 })).toMatchObject({ text: 'Hm.' });
  });

  test('is an answer that drips for longer than it may take', async () => {
    behaviour = { lines: Array.from({ length: 40 }, () => [delta({ content: '.' }), 50]).flat() };
    expect((await failureFrom(ask({ timeoutMs: 300 }))).message).toBe('the provider did not finish within 0.3 s');
  });

  test('is a port on which nobody listens', async () => {
    expect((await failureFrom(ask({ baseURL: 'http://127.0.0.1:1/v1' }))).kind).toBe('unavailable');
  });

  test('never holds the key', async () => {
    behaviour = { status: 401, body: { error: { message: 'no' } } };
    const failure = await failureFrom(ask({ headers: { authorization: 'Bearer very-secret' } }));
    expect(JSON.stringify([failure.message, failure])).not.toContain('very-secret');
  });
});
