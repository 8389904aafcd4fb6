import { brotliCompressSync, deflateSync, gzipSync } from 'node:zlib';
import { afterAll, beforeAll, describe, expect, test } from '@jest/globals';
import type { ModelAnswer } from '@suzumio/protocol/model-chat';
import { type Behaviour, event, type ModelServer, startModelServer } from '../../../../test/support/model-server.js';
import { askProvider, written } from '../../src/gateway/ask-provider.js';
import { chatFormat } from '../../src/gateway/chat.js';
import { responsesFormat } from '../../src/gateway/responses.js';
import type { WireFormat } from '../../src/gateway/wire.js';

let server: ModelServer;
let behaviour: Behaviour;
beforeAll(async () => {
  server = await startModelServer(() => behaviour);
});
afterAll(() => server.close());

interface Asked {
  answer: ModelAnswer;
  /** The text, in the pieces in which it was handed on. */
  pieces: string[];
}

async function ask(given: Behaviour, format: WireFormat = chatFormat): Promise<Asked> {
  behaviour = given;
  const pieces: string[] = [];
  const answer = await askProvider(
    written({
      baseURL: server.baseURL,
      format,
      headers: {},
      body: { model: 'm', messages: [{ role: 'user', content: 'Well?' }], stream: true },
      timeoutMs: 10_000,
      silenceMs: 5_000,
    }),
    (text) => pieces.push(text),
  );
  return { answer, pieces };
}

const choice = (said: object, finish: unknown = null) => ({ choices: [{ index: 0, ...said, finish_reason: finish }] });
const delta = (part: object, finish: unknown = null) => choice({ delta: part }, finish);
const call = (name: string, args: unknown, more: object = {}) => ({ ...more, function: { name, arguments: args } });
const streamed = (...pieces: object[]): Behaviour => ({ lines: [...pieces.map(event), 'data: [DONE]\n'] });
const whole = (message: object, more: object = {}): Behaviour => ({
  status: 200,
  headers: { 'content-type': 'application/json' },
  body: { choices: [{ message, finish_reason: 'stop' }], ...more },
});
const callsOf = async (given: Behaviour) =>
  (await ask(given)).answer.toolCalls.map(({ id, name, arguments: written }) => [id, name, written]);

/** What a call is called that its provider gave no id, or another's. */
const madeUp = expect.stringMatching(/^[0-9A-Za-z]{9}$/);

describe('two calls with one id', () => {
  const first = call('look', '{"at":1}', { id: 'x' });
  const second = call('look', '{"at":2}', { id: 'x' });
  const both = [
    ['x', 'look', '{"at":1}'],
    [madeUp, 'look', '{"at":2}'],
  ];

  test.each<[string, Behaviour]>([
    ['in a whole answer', whole({ tool_calls: [first, second] })],
    [
      'in a whole answer, with one index',
      whole({
        tool_calls: [
          { ...first, index: 0 },
          { ...second, index: 0 },
        ],
      }),
    ],
    ['in one piece', streamed(delta({ tool_calls: [first, second] }, 'tool_calls'))],
    [
      'in one piece, with one index',
      streamed(
        delta({
          tool_calls: [
            { ...first, index: 0 },
            { ...second, index: 0 },
          ],
        }),
      ),
    ],
    [
      'in two pieces',
      streamed(delta({ tool_calls: [first] }), delta({ tool_calls: [second] }), delta({}, 'tool_calls')),
    ],
    [
      'in two pieces, with one index',
      streamed(
        delta({ tool_calls: [{ ...first, index: 0 }] }),
        delta({ tool_calls: [{ ...second, index: 0 }] }),
        delta({}, 'tool_calls'),
      ),
    ],
    [
      'in two pieces, with an index each',
      streamed(delta({ tool_calls: [{ ...first, index: 0 }] }), delta({ tool_calls: [{ ...second, index: 1 }] })),
    ],
    [
      'in splinters, the second begun when the first is whole',
      streamed(
        delta({ tool_calls: [call('look', '', { index: 0, id: 'x' })] }),
        delta({ tool_calls: [{ index: 0, function: { arguments: '{"at"' } }] }),
        delta({ tool_calls: [{ index: 0, function: { arguments: ':1}' } }] }),
        delta({ tool_calls: [call('look', '{"at"', { index: 0, id: 'x' })] }),
        delta({ tool_calls: [{ index: 0, id: 'x', function: { arguments: ':2}' } }] }),
      ),
    ],
  ])('are two calls: %s', async (_how, given) => {
    expect(await callsOf(given)).toEqual(both);
  });

  test('and of two tools are two, also before either has arguments', async () => {
    const apart = streamed(
      delta({ tool_calls: [call('look', '', { id: 'x' })] }),
      delta({ tool_calls: [call('listen', '{}', { id: 'x' })] }),
    );
    expect(await callsOf(apart)).toEqual([
      ['x', 'look', ''],
      [madeUp, 'listen', '{}'],
    ]);
  });

  test('without arguments are two where they come in one piece', async () => {
    const twins = [call('look', '', { index: 0, id: 'x' }), call('look', '', { index: 0, id: 'x' })];
    expect(await callsOf(streamed(delta({ tool_calls: twins })))).toHaveLength(2);
  });

  test('are one where each part of a call repeats whose it is, though braces in its text close early', async () => {
    const part = (args: string) => delta({ tool_calls: [call('look', args, { index: 0, id: 'x' })] });
    expect(await callsOf(streamed(part('{"at":"{}'), part('{}\\"'), part('}"'), part('}')))).toEqual([
      ['x', 'look', '{"at":"{}{}\\"}"}'],
    ]);
  });

  test('are told apart from a part that comes with the call in one piece', async () => {
    const parts = [call('look', '', { index: 0, id: 'x' }), { index: 0, function: { arguments: '{"at":1}' } }];
    expect(await callsOf(streamed(delta({ tool_calls: parts })))).toEqual([['x', 'look', '{"at":1}']]);
  });

  test('never get an id that another call of the answer has', async () => {
    const ids = (
      await callsOf(whole({ tool_calls: ['call_0_1', '', 'call_0_1', ''].map((id) => call('look', '{}', { id })) }))
    ).map(([id]) => id);
    expect(new Set(ids).size).toBe(4);
    expect(ids[0]).toBe('call_0_1');
  });
});

describe('what is only counted', () => {
  const odd: [string, unknown][] = [
    ['a text', '12'],
    ['a negative number', -1],
    ['a list', []],
    ['an object', {}],
    ['null', null],
    ['beyond any answer', 2e19],
    ['a word', 'many'],
    ['true', true],
  ];
  const odds = odd.flatMap(([name, value]): [string, object][] => [
    [`prompt_tokens as ${name}`, { prompt_tokens: value, completion_tokens: 5, total_tokens: value }],
    [`completion_tokens as ${name}`, { prompt_tokens: 9, completion_tokens: value, total_tokens: value }],
    [
      `cached and thought tokens as ${name}`,
      {
        prompt_tokens: 9,
        completion_tokens: 5,
        prompt_tokens_details: { cached_tokens: value },
        completion_tokens_details: { reasoning_tokens: value },
      },
    ],
    [
      `all details as ${name}`,
      { prompt_tokens: 9, completion_tokens: 5, prompt_tokens_details: value, completion_tokens_details: value },
    ],
  ]);

  test.each<[string, unknown]>([
    ...odds,
    ...odd.map(([name, value]): [string, unknown] => [`usage as ${name}`, value]),
  ])('costs no answer: %s', async (_what, usage) => {
    const pieces = streamed(delta({ content: 'Yes.' }, 'stop'), { choices: [], usage });
    for (const given of [pieces, whole({ content: 'Yes.' }, { usage })]) {
      const { answer } = await ask(given);
      expect(answer.text).toBe('Yes.');
      const { inputTokens = 0, outputTokens = 0 } = answer.usage ?? {};
      expect(Number.isSafeInteger(inputTokens + outputTokens)).toBe(true);
    }
  });

  test('is counted where a text is a number', async () => {
    const usage = { prompt_tokens: '12', completion_tokens: ' 3 ', prompt_tokens_details: { cached_tokens: '4' } };
    expect((await ask(whole({ content: 'Yes.' }, { usage }))).answer.usage).toEqual({
      inputTokens: 12,
      outputTokens: 3,
      cachedTokens: 4,
    });
  });

  test('is left out where only a detail of it is none', async () => {
    const usage = { prompt_tokens: 12, completion_tokens: 3, prompt_tokens_details: [] };
    expect((await ask(whole({ content: 'Yes.' }, { usage }))).answer.usage).toEqual({
      inputTokens: 12,
      outputTokens: 3,
    });
  });

  test.each(['NaN', 'Infinity', '-Infinity'])(
    'may be %s, which is no JSON; texts with that word stay as they are',
    async (word) => {
      const usage = `{"prompt_tokens": ${word}, "completion_tokens": 3}`;
      const said = `"I say \\"${word}\\", ${word}."`;
      const body = `{"choices":[{"message":{"content":${said}},"finish_reason":"stop"}],"usage":${usage}}`;
      const line = `data: {"choices":[{"delta":{"content":${said}},"finish_reason":"stop"}],"usage":${usage}}\n`;
      for (const given of [{ status: 200, body }, { lines: [line] }]) {
        expect((await ask(given)).answer).toMatchObject({ text: `I say "${word}", ${word}.`, finishReason: 'stop' });
      }
    },
  );

  test.each<[string, object]>([
    ['a model that is a number', { model: 4 }],
    ['an object that is a list', { object: [] }],
    ['a place that is a text', { choices: [{ index: '0', delta: { content: 'Yes.' }, finish_reason: 'stop' }] }],
    ['a place that is below zero', { choices: [{ index: -1, delta: { content: 'Yes.' }, finish_reason: 'stop' }] }],
    ['no reason for the end but an object', { choices: [{ delta: { content: 'Yes.' }, finish_reason: {} }] }],
    ['an error that says nothing', { error: {} }],
    ['an error that is no error', { error: false }],
  ])('or only shown costs no answer: %s', async (_what, frame) => {
    const piece = { ...delta({ content: 'Yes.' }, 'stop'), ...frame };
    expect((await ask(streamed(piece))).answer.text).toBe('Yes.');
    const body = { choices: [{ message: { content: 'Yes.' }, finish_reason: 'stop' }], ...frame };
    if (!('choices' in frame)) expect((await ask({ status: 200, body })).answer.text).toBe('Yes.');
  });

  test('is taken as it comes in the Responses format, too', async () => {
    const item = { type: 'function_call', call_id: 7, name: 'look', arguments: '{}' };
    const response = {
      status: 'completed',
      model: 5,
      usage: { input_tokens: '12', output_tokens: 3, input_tokens_details: [], output_tokens_details: -1 },
    };
    const line = (type: string, more: object) => `data: ${JSON.stringify({ type, ...more })}\n`;
    const lines = [
      line('response.output_item.added', { output_index: '1', item: { ...item, arguments: '' } }),
      line('response.function_call_arguments.delta', { output_index: '1', delta: '{}' }),
      line('response.completed', { response }),
    ];
    for (const given of [{ lines }, { status: 200, body: { ...response, output: [item] } }]) {
      expect((await ask(given, responsesFormat)).answer).toMatchObject({
        toolCalls: [{ id: '7', name: 'look', arguments: '{}' }],
        usage: { inputTokens: 12, outputTokens: 3 },
      });
    }
  });
});

describe('a call', () => {
  test('may have a number for its id, and a text for its index', async () => {
    const parts = streamed(
      delta({ tool_calls: [call('look', '{"at"', { index: '0', id: 1 })] }),
      delta({ tool_calls: [call('listen', '{"to"', { index: '1', id: 2 })] }),
      delta({ tool_calls: [{ index: '0', function: { arguments: ':1}' } }] }),
      delta({ tool_calls: [{ index: '1', function: { arguments: ':2}' } }] }, 'tool_calls'),
    );
    expect(await callsOf(parts)).toEqual([
      ['1', 'look', '{"at":1}'],
      ['2', 'listen', '{"to":2}'],
    ]);
  });

  test.each<[string, object]>([
    ['a name that is a number', call(7 as unknown as string, '{}', { id: 'x' })],
    ['a name that is a list', call(['look'] as unknown as string, '{}', { id: 'x' })],
    ['arguments that are a list', call('look', ['{}'], { id: 'x' })],
    ['arguments that are a number', call('look', 7, { id: 'x' })],
    ['a function that is a text', { id: 'x', function: 'look' }],
  ])('is never guessed: %s', async (_what, made) => {
    for (const given of [streamed(delta({ tool_calls: [made] })), whole({ tool_calls: [made] })]) {
      await expect(ask(given)).rejects.toMatchObject({
        kind: 'unavailable',
        message: expect.stringMatching(/function/),
      });
    }
  });
});

describe('the older form of a call', () => {
  const made = { name: 'look', arguments: '{"at":1}' };

  test.each<[string, Behaviour]>([
    ['whole', whole({ content: null, function_call: made })],
    ['whole, in a stream', streamed(delta({ function_call: made }, 'function_call'))],
    [
      'in splinters',
      streamed(
        delta({ role: 'assistant', content: null, function_call: { name: 'look', arguments: '' } }),
        delta({ function_call: { arguments: '{"at"' } }),
        delta({ function_call: { arguments: ':1}' } }),
        delta({}, 'function_call'),
      ),
    ],
    [
      'beside the newer one, which it repeats',
      streamed(
        delta({ tool_calls: [{ index: 0, id: 'call_0_0', function: made }], function_call: made }, 'tool_calls'),
      ),
    ],
  ])('is understood: %s', async (_how, given) => {
    const id = expect.stringMatching(/^(call_0_0|[0-9A-Za-z]{9})$/);
    expect(await callsOf(given)).toEqual([[id, 'look', '{"at":1}']]);
  });

  test('ends an answer like the newer one', async () => {
    const { answer } = await ask(streamed(delta({ function_call: made }), delta({}, 'function_call')));
    expect(answer.finishReason).toBe('tool_calls');
  });

  test('that holds nothing is none', async () => {
    const { answer } = await ask(whole({ content: 'Yes.', function_call: { name: '', arguments: '' } }));
    expect(answer).toMatchObject({ text: 'Yes.', toolCalls: [] });
  });
});

describe('a whole message in a stream', () => {
  const message = { role: 'assistant', content: 'I look.', tool_calls: [call('look', '{"at":1}', { id: 'x' })] };
  const expected = { text: 'I look.', toolCalls: [{ id: 'x', name: 'look', arguments: '{"at":1}' }] };

  test.each<[string, Behaviour]>([
    ['alone', streamed(choice({ message }, 'tool_calls'))],
    ['beside an empty piece', streamed(choice({ delta: {}, message }, 'tool_calls'))],
    [
      'that grows',
      streamed(
        choice({ message: { content: 'I ' } }),
        choice({ message: { content: 'I look.' } }),
        choice({ message }, 'tool_calls'),
      ),
    ],
    [
      'in parts',
      streamed(choice({ message: { content: 'I ' } }), choice({ message: { ...message, content: 'look.' } }, 'stop')),
    ],
    [
      'after its pieces',
      streamed(
        delta({ content: 'I look.' }),
        delta({ tool_calls: message.tool_calls }),
        choice({ message: { ...message, content: 'I look. ' } }, 'tool_calls'),
      ),
    ],
    [
      'after a piece that it goes beyond',
      streamed(delta({ content: 'I look.' }), choice({ delta: null, message }, 'tool_calls')),
    ],
    [
      'beside each piece',
      streamed(
        choice({ delta: { content: 'I ' }, message: { content: 'I ' } }),
        choice({ delta: { content: 'look.' }, message: { content: 'I look.' } }),
        choice({ delta: { tool_calls: message.tool_calls }, message }, 'tool_calls'),
      ),
    ],
  ])('is taken once: %s', async (_how, given) => {
    const { answer, pieces } = await ask(given);
    expect(answer).toMatchObject(expected);
    expect(pieces.join('')).toBe('I look.');
  });
});

test('an answer that ends with calls and holds none is no answer', async () => {
  for (const given of [streamed(delta({}, 'tool_calls')), streamed(delta({ content: '' }, 'function_call'))]) {
    await expect(ask(given)).rejects.toMatchObject({ kind: 'unavailable', message: expect.stringMatching(/call/) });
  }
});

describe('an answer in a form that was not asked for', () => {
  const pieces = [
    delta({ role: 'assistant', content: 'I ' }),
    delta({ content: 'look.' }),
    delta({ tool_calls: [call('look', '{"at":"}\\n{"}', { index: 0, id: 'x' })] }),
    delta({}, 'tool_calls'),
  ];
  const message = { content: 'I look.', tool_calls: [call('look', '{"at":"}\\n{"}', { id: 'x' })] };
  const all = { choices: [{ message, finish_reason: 'tool_calls' }] };
  const events = pieces.map((piece) => `data: ${JSON.stringify(piece)}`);
  const sent = (type: string | undefined, body: string | Buffer, more: Record<string, string> = {}): Behaviour => ({
    status: 200,
    headers: { ...(type === undefined ? {} : { 'content-type': type }), ...more },
    body,
  });
  const usual = `${events.join('\n\n')}\n\ndata: [DONE]\n\n`;
  const encoded = (encoding: string) => ({ 'content-encoding': encoding });

  test.each<[string, Behaviour]>([
    ['events with single newlines', sent('text/event-stream', `${events.join('\n')}\ndata: [DONE]\n`)],
    ['events with carriage returns', sent('text/event-stream', `${events.join('\r')}\rdata: [DONE]\r`)],
    ['events as plain text', sent('text/plain; charset=utf-8', usual)],
    ['events without a type', sent(undefined, usual)],
    ['events as JSON', sent('application/json', usual)],
    ['events of several lines', sent('text/event-stream', events.join('\n\n').replaceAll(',"', '\ndata: ,"'))],
    ['events after a byte order mark and a comment', sent('text/event-stream', `\ufeff: hello\n\n${usual}`)],
    ['an object on each line', sent('application/x-ndjson', pieces.map((piece) => JSON.stringify(piece)).join('\n'))],
    [
      'objects without anything between them',
      sent('text/event-stream', pieces.map((piece) => JSON.stringify(piece)).join('')),
    ],
    ['JSON as events', sent('text/event-stream', JSON.stringify(all))],
    ['JSON on many lines as events', sent('text/event-stream', JSON.stringify(all, null, 2))],
    ['JSON as a page', sent('text/html', JSON.stringify(all))],
    ['events in gzip', sent('text/event-stream', gzipSync(usual), encoded('gzip'))],
    ['events in gzip that is not said', sent('text/event-stream', gzipSync(usual))],
    ['JSON in gzip', sent('application/json', gzipSync(JSON.stringify(all)), encoded('GZIP'))],
    ['JSON deflated', sent('application/json', deflateSync(JSON.stringify(all)), encoded('deflate'))],
    ['JSON in Brotli', sent('application/json', brotliCompressSync(JSON.stringify(all)), encoded('br'))],
  ])('is understood: %s', async (_what, given) => {
    const { answer } = await ask(given);
    expect(answer).toMatchObject({
      text: 'I look.',
      toolCalls: [{ id: 'x', name: 'look', arguments: '{"at":"}\\n{"}' }],
      finishReason: 'tool_calls',
    });
  });

  test.each<[string, Behaviour, RegExp]>([
    ['a page', sent('text/html', '<html><title>Sign in</title></html>'), /not JSON: Sign in$/],
    ['words', sent('text/plain', 'The model is\nloading.'), /not JSON: The model is loading\.$/],
    [
      'words as events',
      sent('text/event-stream', 'data: The model is loading.\n\n'),
      /not JSON: The model is loading\.$/,
    ],
    ['other JSON', sent('application/json', '{"status":"ok"}'), /no answer of a model: .*ok/],
    ['other JSON as events', sent('text/event-stream', '{"status":"ok"}'), /no answer of a model: .*ok/],
    ['a list', sent('application/json', '[{"text":"hm"}]'), /no answer of a model: .*hm/],
    ['an unknown encoding', sent('application/json', 'x', encoded('zstd-2')), /encoded its answer as zstd-2/],
    ['broken gzip', sent('application/json', Buffer.from('1f8b0800ffffffffffffffffffff', 'hex')), /cannot be inflated/],
    ['gzip that is none', sent('application/json', 'no gzip', encoded('gzip')), /cannot be inflated/],
    ['very many words', sent('text/plain', 'word '.repeat(500_000)), /not JSON: (word )+/],
  ])('is told in its own words, within bounds, where it is not understood: %s', async (_what, given, words) => {
    const failure: unknown = await ask(given).catch((error: unknown) => error);
    expect(failure).toMatchObject({ unreadable: true, message: expect.stringMatching(words) });
    expect((failure as Error).message.length).toBeLessThanOrEqual(1_000);
  });

  test('is inflated within bounds', async () => {
    const bomb = gzipSync(Buffer.alloc(20 * 1024 * 1024, ' '), { level: 1 });
    await expect(ask(sent('application/json', bomb, encoded('gzip')))).rejects.toMatchObject({
      kind: 'answer-too-large',
    });
  });
});
