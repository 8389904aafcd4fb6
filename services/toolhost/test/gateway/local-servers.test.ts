import { afterAll, beforeAll, describe, expect, test } from '@jest/globals';
import type { ModelAnswer } from '@suzumio/protocol/model-chat';
import { type Behaviour, type ModelServer, startModelServer } from '../../../../test/support/model-server.js';
import { askProvider, written } from '../../src/gateway/ask-provider.js';
import { chatFormat } from '../../src/gateway/chat.js';
import { ProviderFailure } from '../../src/gateway/provider-failure.js';

let server: ModelServer;
let behaviour: Behaviour;
beforeAll(async () => {
  server = await startModelServer(() => behaviour);
});
afterAll(() => server.close());

function ask(given: Behaviour): Promise<ModelAnswer> {
  behaviour = given;
  return askProvider(
    written({
      baseURL: server.baseURL,
      format: chatFormat,
      headers: {},
      body: { model: 'm', messages: [{ role: 'user', content: 'Well?' }], stream: true },
      timeoutMs: 10_000,
      silenceMs: 5_000,
    }),
  );
}

/** A stream as each server sends it: every piece with that server's own frame around its choice. */
const stream = (frame: object, pieces: object[]) => ({
  lines: [...pieces.map((piece) => `data: ${JSON.stringify({ ...frame, ...piece })}\n`), 'data: [DONE]\n'],
});
const delta = (given: object, finish: string | null = null) => ({
  choices: [{ index: 0, delta: given, finish_reason: finish }],
});
const whole = (name: string, args: unknown, more: object = {}) => ({
  ...more,
  type: 'function',
  function: { name, arguments: args },
});

/** What a call is called that its server gave no id. */
const madeUp = expect.stringMatching(/^[0-9A-Za-z]{9}$/);

describe('Ollama', () => {
  const frame = {
    id: 'chatcmpl-668',
    object: 'chat.completion.chunk',
    created: 1,
    model: 'qwen3:8b',
    system_fingerprint: 'fp_ollama',
  };
  const call = (id: string, name: string, args: string) =>
    delta({ role: 'assistant', content: '', tool_calls: [whole(name, args, { index: 0, id })] });

  test('sends each call whole, all of them as the first, with what it thought beside, and ends with stop', async () => {
    const answer = await ask(
      stream(frame, [
        delta({ role: 'assistant', content: '', reasoning: 'The user wants' }),
        call('call_1', 'artifacts_list', '{}'),
        call('call_2', 'messages_send', '{"body":"x"}'),
        delta({ role: 'assistant', content: '' }, 'stop'),
        { choices: [], usage: { prompt_tokens: 40, completion_tokens: 9, total_tokens: 49 } },
      ]),
    );
    expect(answer).toEqual({
      text: '',
      toolCalls: [
        { id: 'call_1', name: 'artifacts_list', arguments: '{}' },
        { id: 'call_2', name: 'messages_send', arguments: '{"body":"x"}' },
      ],
      finishReason: 'stop',
      usage: { inputTokens: 40, outputTokens: 9 },
      model: 'qwen3:8b',
      attached: { message: { reasoning: 'The user wants' } },
    });
  });

  test('has not counted where it counts nothing', async () => {
    const none = { choices: [], usage: { prompt_tokens: 0, completion_tokens: 0, total_tokens: 0 } };
    expect((await ask(stream(frame, [delta({ content: 'Yes.' }), delta({}, 'stop'), none]))).usage).toBeUndefined();
  });

  test('says which model it does not have, and which has no tools', async () => {
    const none = { error: { message: 'model "qwen9" not found, try pulling it first', type: 'api_error', code: null } };
    await expect(ask({ status: 404, body: none })).rejects.toMatchObject({ kind: 'model-unknown' });
    const toolless = { error: { message: 'registry.ollama.ai/library/gemma:latest does not support tools' } };
    await expect(ask({ status: 400, body: toolless })).rejects.toMatchObject({
      kind: 'request-refused',
      message: expect.stringContaining('does not support tools'),
    });
  });
});

describe('llama.cpp', () => {
  const frame = {
    id: 'chatcmpl-x',
    object: 'chat.completion.chunk',
    created: 1,
    model: 'gpt-3.5-turbo',
    system_fingerprint: 'b6000',
  };

  test('sends what it thought, a call in splinters, and its timings', async () => {
    const answer = await ask(
      stream(frame, [
        delta({ role: 'assistant', content: null }),
        delta({ reasoning_content: 'I should look.' }),
        delta({ tool_calls: [whole('artifacts_list', '{', { index: 0, id: 'Ab3' })] }),
        delta({ tool_calls: [{ index: 0, function: { arguments: '"path":' } }] }),
        delta({ tool_calls: [{ index: 0, function: { arguments: '"x"}' } }] }),
        delta({}, 'tool_calls'),
        { choices: [], usage: { prompt_tokens: 12, completion_tokens: 7 }, timings: { prompt_n: 12 } },
      ]),
    );
    expect(answer.text).toBe('');
    expect(answer.toolCalls).toEqual([{ id: 'Ab3', name: 'artifacts_list', arguments: '{"path":"x"}' }]);
    expect(answer.usage).toEqual({ inputTokens: 12, outputTokens: 7 });
  });

  test('sends calls without id or index, whole in one piece and after one another', async () => {
    const together = delta({ tool_calls: [whole('one', { n: 1 }), whole('two', '{"n":2}')] });
    const apart = [delta({ tool_calls: [whole('one', '{"n":1}')] }), delta({ tool_calls: [whole('two', '{"n":2}')] })];
    for (const pieces of [[together], apart]) {
      const { toolCalls } = await ask(stream(frame, [...pieces, delta({}, 'stop')]));
      expect(toolCalls).toEqual([
        { id: madeUp, name: 'one', arguments: '{"n":1}' },
        { id: madeUp, name: 'two', arguments: '{"n":2}' },
      ]);
    }
  });

  test('loads, which is waited for, and says when the conversation is too long', async () => {
    const loading = { error: { code: 503, message: 'Loading model', type: 'unavailable_error' } };
    await expect(ask({ status: 503, body: loading })).rejects.toMatchObject({ kind: 'unavailable' });
    const error = {
      code: 400,
      message: 'the request exceeds the available context size, try increasing it',
      type: 'exceed_context_size_error',
    };
    await expect(ask({ status: 400, body: { error } })).rejects.toMatchObject({ kind: 'context-overflow' });
    await expect(ask(stream({}, [{ error }]))).rejects.toMatchObject({ kind: 'context-overflow' });
  });
});

describe('vLLM', () => {
  const frame = { id: 'chatcmpl-5e1', object: 'chat.completion.chunk', created: 1, model: 'served-as', usage: null };

  test('repeats who a call is with every part, and has empty lists beside texts', async () => {
    const part = (args: string) =>
      delta({ tool_calls: [whole('look', args, { index: 0, id: 'chatcmpl-tool-1' })], reasoning_content: null });
    const answer = await ask(
      stream(frame, [
        delta({ role: 'assistant', content: '' }),
        delta({ content: 'I look.', tool_calls: [] }),
        part('{"at"'),
        part(':"north"}'),
        delta({ content: '' }, 'tool_calls'),
        { choices: [], usage: { prompt_tokens: 20, completion_tokens: 11, prompt_tokens_details: null } },
      ]),
    );
    expect(answer).toMatchObject({
      text: 'I look.',
      toolCalls: [{ id: 'chatcmpl-tool-1', name: 'look', arguments: '{"at":"north"}' }],
      usage: { inputTokens: 20, outputTokens: 11 },
    });
  });

  test('says in its own form what is wrong, also in the middle of a stream', async () => {
    const wrong = (message: string, code: number, type: string) => ({
      object: 'error',
      message,
      type,
      param: null,
      code,
    });
    const long = wrong("This model's maximum context length is 4096 tokens. However, …", 400, 'BadRequestError');
    await expect(ask({ status: 400, body: long })).rejects.toMatchObject({ kind: 'context-overflow' });
    await expect(ask(stream({}, [long]))).rejects.toMatchObject({ kind: 'context-overflow' });
    const unknown = wrong('The model `m` does not exist.', 404, 'NotFoundError');
    await expect(ask({ status: 404, body: unknown })).rejects.toMatchObject({ kind: 'model-unknown' });
    const died = { error: wrong('EngineCore encountered an issue.', 500, 'InternalServerError') };
    await expect(ask(stream({}, [died]))).rejects.toMatchObject({ kind: 'unavailable' });
  });
});

/** What servers were seen to send, field by field; only names and texts are ours. */
describe('recorded', () => {
  const choice = (delta: object, finish: string | null = null, more: object = {}) => ({
    choices: [{ index: 0, delta, ...more, finish_reason: finish }],
  });

  test('Ollama, April 2025: a call whole in the first piece', async () => {
    const frame = {
      id: 'chatcmpl-304',
      object: 'chat.completion.chunk',
      created: 1744521962,
      model: 'qwen2.5-coder:7b-instruct-q8_0',
      system_fingerprint: 'fp_ollama',
    };
    const call = {
      id: 'call_lbcjwr0u',
      index: 0,
      type: 'function',
      function: { name: 'run_command', arguments: '{"command":"ls -a"}' },
    };
    const answer = await ask(
      stream(frame, [
        choice({ role: 'assistant', content: '', tool_calls: [call] }),
        choice({ role: 'assistant', content: '' }, 'stop'),
      ]),
    );
    expect(answer).toMatchObject({
      text: '',
      toolCalls: [{ id: 'call_lbcjwr0u', name: 'run_command', arguments: '{"command":"ls -a"}' }],
      model: 'qwen2.5-coder:7b-instruct-q8_0',
    });
  });

  test('Ollama, January 2026: thoughts beside an empty text, cut at the longest', async () => {
    const frame = {
      id: 'chatcmpl-774',
      object: 'chat.completion.chunk',
      created: 1768062791,
      model: 'qwen3:32b',
      system_fingerprint: 'fp_ollama',
    };
    const thought = choice({ role: 'assistant', content: '', reasoning: 'Okay' });
    const answer = await ask(stream(frame, [thought, choice({ role: 'assistant', content: '' }, 'length')]));
    expect(answer).toMatchObject({ text: '', toolCalls: [], finishReason: 'length' });
  });

  test('vLLM, April 2025: no model, a name first, and arguments in splinters', async () => {
    const frame = {
      id: 'chatcmpl-d0c68c86be0641129cffa5053c0c217e',
      object: 'chat.completion.chunk',
      created: 1744513664,
      model: '',
    };
    const logprobs = { logprobs: null };
    const named = { id: 'chatcmpl-tool-ca99', type: 'function', index: 0, function: { name: 'run_command' } };
    const part = (text: string) =>
      choice({ tool_calls: [{ index: 0, function: { arguments: text } }] }, null, logprobs);
    const answer = await ask(
      stream(frame, [
        choice({ role: 'assistant', content: '' }, null, logprobs),
        choice({ tool_calls: [named] }, null, logprobs),
        part('{"command": "'),
        part('ls'),
        part('"}'),
        choice({ content: '' }, 'tool_calls', { ...logprobs, stop_reason: null }),
      ]),
    );
    expect(answer.toolCalls).toEqual([
      { id: 'chatcmpl-tool-ca99', name: 'run_command', arguments: '{"command": "ls"}' },
    ]);
  });

  test('vLLM behind another, June 2025: an empty name with the arguments', async () => {
    const first = { index: 0, id: 'chatcmpl-tool-af37', type: 'function', function: { name: 'sum', arguments: '' } };
    const second = { index: 0, function: { name: '', arguments: '{"firstNumber": 2, "secondNumber": 2}' } };
    const answer = await ask(
      stream({ id: 'chatcmpl-cc34', object: 'chat.completion.chunk', model: 'ibm/granite-3-3-8b-instruct' }, [
        choice({ content: '' }),
        choice({ tool_calls: [first] }),
        choice({ tool_calls: [second] }),
        choice({}, 'tool_calls'),
      ]),
    );
    expect(answer.toolCalls).toEqual([
      { id: 'chatcmpl-tool-af37', name: 'sum', arguments: '{"firstNumber": 2, "secondNumber": 2}' },
    ]);
  });
});

describe('others', () => {
  test('Mistral says in parts what was thought and what is said: the latter is the answer', async () => {
    const thinking = { type: 'thinking', thinking: [{ type: 'text', text: 'Hm.' }] };
    const said = (text: string) => ({ type: 'text', text });
    const streamed = await ask(
      stream({ model: 'magistral-medium-2509' }, [
        delta({ role: 'assistant', content: '' }),
        delta({ content: [thinking] }),
        delta({ content: [said('Yes, ')] }),
        delta({ content: [said('it '), said('is.'), { type: 'reference', reference_ids: [1] }] }),
        delta({ content: '' }, 'stop'),
      ]),
    );
    expect(streamed).toMatchObject({ text: 'Yes, it is.', finishReason: 'stop' });
    const body = { choices: [{ message: { content: [thinking, said('Yes.')] }, finish_reason: 'stop' }] };
    const answer = await ask({ status: 200, headers: { 'content-type': 'application/json' }, body });
    expect(answer.text).toBe('Yes.');
  });

  test('whole calls that are all the first, without arguments, are as many calls', async () => {
    const answer = await ask(
      stream({}, [
        delta({ tool_calls: [whole('artifacts_list', '', { index: 0, id: 'a' })] }),
        delta({ tool_calls: [whole('tasks_list', '', { index: 0, id: 'b' })] }),
        delta({ tool_calls: [whole('messages_send', '{"body":"x"}', { index: 0, id: 'c' })] }, 'tool_calls'),
      ]),
    );
    expect(answer.toolCalls).toEqual([
      { id: 'a', name: 'artifacts_list', arguments: '' },
      { id: 'b', name: 'tasks_list', arguments: '' },
      { id: 'c', name: 'messages_send', arguments: '{"body":"x"}' },
    ]);
  });

  test('a call whose every part has an id of its own is one', async () => {
    const part = (id: string, called: object) => delta({ tool_calls: [{ index: 0, id, function: called }] });
    const answer = await ask(
      stream({}, [part('a', { name: 'look' }), part('b', { arguments: '{' }), part('c', { arguments: '}' })]),
    );
    expect(answer.toolCalls).toEqual([{ id: 'a', name: 'look', arguments: '{}' }]);
  });

  test.each<[string, Behaviour, ProviderFailure['kind']]>([
    [
      'Gemini, in a list',
      {
        status: 400,
        body: [
          {
            error: {
              code: 400,
              message: 'The input token count (2000000) exceeds the maximum number of tokens allowed (1048576).',
              status: 'INVALID_ARGUMENT',
            },
          },
        ],
      },
      'context-overflow',
    ],
    [
      'xAI',
      {
        status: 400,
        body: {
          code: 'Client specified an invalid argument',
          error: "This model's maximum prompt length is 131072 but the request contains 537812 tokens.",
        },
      },
      'context-overflow',
    ],
    [
      'Anthropic',
      { status: 400, body: { error: { message: 'prompt is too long: 210000 tokens > 200000 maximum' } } },
      'context-overflow',
    ],
    [
      'llama.cpp, in its answer',
      stream({}, [{ error: { code: 500, message: 'Context size has been exceeded.', type: 'server_error' } }]),
      'context-overflow',
    ],
    [
      'OpenAI, as a limit that no waiting helps',
      {
        status: 429,
        body: {
          error: {
            message: 'Request too large for gpt-4o on tokens per min (TPM): Limit 30000, Requested 45000.',
            type: 'tokens',
            code: 'rate_limit_exceeded',
          },
        },
      },
      'context-overflow',
    ],
    [
      'OpenAI, of a limit that waiting does help',
      {
        status: 429,
        body: {
          error: {
            message: 'Rate limit reached for gpt-4o on tokens per min (TPM): Limit 30000, Used 29000, Requested 4500.',
            type: 'tokens',
            code: 'rate_limit_exceeded',
          },
        },
      },
      'unavailable',
    ],
    ['a throttle', { status: 503, body: { error: { message: 'Too many tokens, please wait.' } } }, 'unavailable'],
    [
      'llama.cpp, of a conversation that it cannot read',
      {
        status: 500,
        body: { error: { code: 500, message: 'Failed to parse tool call arguments as JSON: parse error' } },
      },
      'request-refused',
    ],
  ])('say differently what failed: %s', async (_who, given, kind) => {
    await expect(ask(given)).rejects.toMatchObject({ kind, message: expect.stringMatching(/: \S/) });
  });
});

test('an answer that said why it ended is kept, though the connection then breaks', async () => {
  const lines = [
    `data: ${JSON.stringify(delta({ content: 'All of it.' }))}\n`,
    `data: ${JSON.stringify(delta({}, 'stop'))}\n`,
    100,
  ];
  expect(await ask({ lines, cut: true })).toMatchObject({ text: 'All of it.', finishReason: 'stop' });
});

test('a stream that is done before anything was said is no answer', async () => {
  const failure: unknown = await ask(stream({}, [{ choices: [] }])).catch((error: unknown) => error);
  expect(failure).toBeInstanceOf(ProviderFailure);
  expect(failure).toMatchObject({ kind: 'unavailable', message: 'the provider ended its answer before it began' });
});
