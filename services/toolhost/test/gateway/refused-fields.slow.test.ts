import { afterEach, beforeEach, describe, expect, test } from '@jest/globals';
import type { ClaimAnswer } from '@suzumio/protocol/attempts';
import { stepHeader } from '@suzumio/protocol/model-chat';
import { noon } from '../../../../test/support/cell.js';
import {
  type Behaviour,
  event,
  type ModelRequestBody,
  type ModelServer,
  startModelServer,
} from '../../../../test/support/model-server.js';
import { allowing, type Begun, begun, type ToolhostBench, toolhostBench } from '../toolhost-client.js';

let server: ModelServer;
let bench: ToolhostBench;
/** What the server says to a request. */
let answers: (body: ModelRequestBody, number: number) => Behaviour;

beforeEach(async () => {
  server = await startModelServer(({ body }, number) => answers(body, number));
  bench = await toolhostBench(allowing({ baseURL: server.baseURL, ownPrices: true }), {}, { startMs: noon });
});
afterEach(async () => {
  await bench.close();
  await server.close();
});

async function start(
  preset: string,
  extra = '',
  { model = 'only', name = 'thinkers' } = {},
): Promise<{ project: string; ada: Begun }> {
  const project = await bench.testing.create(`
name: ${name}
task: Think.
backend:
  runner:
    mode: ai
    model: ${model}
    models:
      providers: { one: { type: openai-compatible, baseURL: "${server.baseURL}" } }
      presets: { only: { provider: one, model: m, price: { input: 1, output: 2 }${preset} } }
${extra}agents:
  ada: { role: thinker, prompt: Think. }
`);
  return { project, ada: await bench.begin(project, 'ada') };
}

const question = {
  messages: [
    { role: 'system', content: 'You are Ada.' },
    { role: 'user', content: 'Well?' },
  ],
};

async function ask(attempt: Begun, step = '0', body: object = question): Promise<{ status: number; text: string }> {
  const response = await attempt.ask(body, { [stepHeader]: step });
  return { status: response.status, text: await response.text() };
}

const failureOf = async (project: string) => {
  const [row] = await bench.testing.rows<{ failure: string }>(
    project,
    'SELECT failure_json AS failure FROM turn_attempts ORDER BY number DESC LIMIT 1',
  );
  return JSON.parse(row?.failure ?? '{}') as { code?: string; message?: string };
};
const changesOf = async (project: string) => {
  const rows = await bench.testing.rows<{ result: string }>(project, 'SELECT result_json AS result FROM turn_steps');
  return rows.flatMap(({ result }) => (JSON.parse(result) as { changes?: string[] }).changes ?? []);
};

const error = (message: string, more: object = {}) => ({ message, type: 'invalid_request_error', ...more });
/** The forms of a refusal: under a status of its own, as a server's fault, and in a successful answer, whole and streamed. */
const forms: [string, (said: ReturnType<typeof error>) => Behaviour][] = [
  ['400', (said) => ({ status: 400, body: { error: said } })],
  ['422 of FastAPI', (said) => ({ status: 422, body: { detail: [{ loc: ['body', 'x'], msg: said.message }] } })],
  ['500', (said) => ({ status: 500, body: { error: { ...said, type: 'server_error' } } })],
  [
    '200, whole',
    (said) => ({
      status: 200,
      headers: { 'content-type': 'application/json' },
      body: { error: { ...said, code: 400 } },
    }),
  ],
  ['200, streamed', (said) => ({ lines: [event({ error: { ...said, code: 400 } })] })],
];
const yes: Behaviour = { text: 'Yes.' };
const roleOf = (body: ModelRequestBody) => body.messages[0]?.role;

/** What a server refuses, in its words, and what it is sent then; `lenient` where a preset's own setting is left out. */
const kinds: [
  string,
  string,
  (body: ModelRequestBody) => string | undefined,
  (body: ModelRequestBody) => unknown,
  unknown,
][] = [
  [
    'stream_options',
    '',
    (b) => ('stream_options' in b ? 'stream_options: Extra inputs are not permitted' : undefined),
    (b) => 'stream_options' in b,
    false,
  ],
  [
    'stream_options, otherwise',
    '',
    (b) => ('stream_options' in b ? "Unknown parameter: 'stream_options'." : undefined),
    (b) => 'stream_options' in b,
    false,
  ],
  [
    'max_tokens',
    ', maxOutputTokens: 500',
    (b) =>
      'max_tokens' in b
        ? "Unsupported parameter: 'max_tokens' is not supported with this model. Use 'max_completion_tokens' instead."
        : undefined,
    (b) => [b['max_tokens'], b['max_completion_tokens']],
    [undefined, 500],
  ],
  [
    'max_completion_tokens',
    ', maxOutputTokens: 500, maxTokensField: max_completion_tokens, lenient: true',
    (b) =>
      'max_completion_tokens' in b
        ? "[{'type': 'extra_forbidden', 'loc': ('body', 'max_completion_tokens'), 'msg': 'Extra inputs are not permitted'}]"
        : undefined,
    (b) => [b['max_tokens'], b['max_completion_tokens']],
    [500, undefined],
  ],
  [
    'an answer that is too long for the model',
    ', maxOutputTokens: 100000',
    (b) =>
      Number(b['max_tokens']) > 4096
        ? 'max_tokens is too large: 100000. This model supports at most 4096 completion tokens, whereas you provided 100000.'
        : undefined,
    (b) => b['max_tokens'],
    4096,
  ],
  [
    'an answer beyond a range',
    ', maxOutputTokens: 20000',
    (b) =>
      Number(b['max_tokens']) > 8192
        ? 'Invalid max_tokens value, the valid range of max_tokens is [1, 8192]'
        : undefined,
    (b) => b['max_tokens'],
    8192,
  ],
  [
    'question and answer that are too long',
    ', maxOutputTokens: 8000',
    (b) =>
      Number(b['max_tokens']) > 3192
        ? "This model's maximum context length is 8192 tokens. However, you requested 13000 tokens (5000 in the messages, 8000 in the completion)."
        : undefined,
    (b) => b['max_tokens'],
    3192,
  ],
  [
    'the role system',
    '',
    (b) => (roleOf(b) === 'system' ? 'System role not supported' : undefined),
    roleOf,
    'developer',
  ],
  [
    'the role system, by its place',
    '',
    (b) =>
      roleOf(b) === 'system'
        ? "Unsupported value: 'messages[0].role' does not support 'system' with this model."
        : undefined,
    roleOf,
    'developer',
  ],
  [
    'the roles system and developer',
    '',
    (b) =>
      roleOf(b) === 'system'
        ? 'Unexpected message role.'
        : roleOf(b) === 'developer'
          ? 'unknown variant `developer`, expected one of `user`, `assistant`'
          : undefined,
    (b) => b.messages,
    [{ role: 'user', content: 'You are Ada.\n\nWell?' }],
  ],
  [
    'any role but user and assistant',
    '',
    (b) => (roleOf(b) === 'user' ? undefined : 'Only user and assistant roles are supported!'),
    (b) => b.messages.length,
    1,
  ],
  [
    'the role developer',
    ', systemRole: developer, lenient: true',
    (b) =>
      roleOf(b) === 'developer'
        ? "developer is not one of ['system', 'assistant', 'user'] - 'messages.0.role'"
        : undefined,
    roleOf,
    'system',
  ],
  [
    'temperature',
    ', temperature: 0.2, lenient: true',
    (b) =>
      'temperature' in b
        ? "Unsupported value: 'temperature' does not support 0.2 with this model. Only the default (1) value is supported."
        : undefined,
    (b) => 'temperature' in b,
    false,
  ],
  [
    'reasoning_effort',
    ', reasoningEffort: low, lenient: true',
    (b) => ('reasoning_effort' in b ? 'Unrecognized request argument supplied: reasoning_effort' : undefined),
    (b) => 'reasoning_effort' in b,
    false,
  ],
  [
    'top_p beside temperature',
    ', temperature: 0.2, topP: 0.5, lenient: true',
    (b) =>
      'temperature' in b && 'top_p' in b
        ? '`temperature` and `top_p` cannot both be specified for this model. Please use only one.'
        : undefined,
    (b) => ['temperature' in b, 'top_p' in b],
    [true, false],
  ],
];

describe.each(forms)('a refusal as %s teaches', (_form, refusal) => {
  test.each(kinds)('%s', async (_what, preset, refused, got, expected) => {
    answers = (body) => {
      const said = refused(body);
      return said === undefined ? yes : refusal(error(said));
    };
    const { project, ada } = await start(preset, 'budget: { usd: 100 }\n');
    expect(await ask(ada)).toMatchObject({ status: 200 });
    expect(got(server.requests.at(-1)?.body ?? { model: '', messages: [] })).toEqual(expected);
    expect(server.requests.length).toBeLessThanOrEqual(3);
    expect(await changesOf(project)).not.toHaveLength(0);
  });
});

describe('what was learnt', () => {
  const refuseStreamOptions = (body: ModelRequestBody): Behaviour =>
    'stream_options' in body ? { status: 400, body: { error: error('Unknown parameter: stream_options') } } : yes;

  test('is used at once by the next question, also of another project, for a day', async () => {
    answers = refuseStreamOptions;
    const { ada } = await start('');
    await ask(ada, '0');
    expect(server.requests).toHaveLength(2);
    await ask(ada, '1');
    expect(server.requests).toHaveLength(3);
    bench.testing.setNow(noon + 25 * 3_600_000);
    const { ada: again } = await start('', '', { name: 'others' });
    await ask(again, '0');
    expect(server.requests).toHaveLength(5);
  });

  test('is of one model at one address, and recorded with the step', async () => {
    answers = refuseStreamOptions;
    const { project, ada } = await start('');
    await ask(ada, '0');
    expect(await changesOf(project)).toEqual(['stream_options left out']);
    const [row] = await bench.testing.rows<{ data: string }>(
      project,
      `SELECT data_json AS data FROM events WHERE type = 'model.answered'`,
    );
    expect(JSON.parse(row?.data ?? '{}')).toMatchObject({ changes: ['stream_options left out'] });
  });

  test('is not kept for ever: a server that takes only the other name again is asked by that', async () => {
    answers = (body) =>
      'max_tokens' in body ? { status: 400, body: { error: error("'max_tokens' is not supported") } } : yes;
    const { ada } = await start(', maxOutputTokens: 500');
    await ask(ada, '0');
    answers = (body) =>
      'max_completion_tokens' in body
        ? { status: 400, body: { error: error("'max_completion_tokens' is not supported") } }
        : yes;
    expect(await ask(ada, '1')).toMatchObject({ status: 200 });
    expect(server.requests.at(-1)?.body).toMatchObject({ max_tokens: 500 });
  });
});

describe("a preset's own setting", () => {
  test.each<[string, string, RegExp]>([
    ['temperature', ', temperature: 0.2', /temperature of preset only.*lenient: true/],
    ['top_p', ', topP: 0.5', /topP \(top_p\) of preset only/],
    ['reasoning_effort', ', reasoningEffort: low', /reasoningEffort \(reasoning_effort\) of preset only/],
    [
      'max_completion_tokens',
      ', maxOutputTokens: 9, maxTokensField: max_completion_tokens',
      /maxTokensField and maxOutputTokens of preset only/,
    ],
    ['system', ', systemRole: system', /systemRole of preset only/],
  ])('stays where it is not lenient, and the failure names field and setting: %s', async (field, preset, says) => {
    const said = field === 'system' ? 'System role not supported' : `Unsupported parameter: '${field}'`;
    answers = () => ({ status: 400, body: { error: error(said) } });
    const { project, ada } = await start(preset);
    expect(await ask(ada)).toMatchObject({ status: 424 });
    expect(server.requests).toHaveLength(1);
    const failure = await failureOf(project);
    expect(failure.code).toBe('model-refused');
    expect(failure.message).toMatch(says);
    expect(failure.message).toContain(said);
  });
});

describe('a server that lies', () => {
  const fields = ['stream_options', 'max_tokens', 'temperature', 'top_p', 'reasoning_effort', 'max_completion_tokens'];

  test('gets four requests, always with a bound, and bills no more than was reserved', async () => {
    answers = (body, number) => {
      expect(body['max_tokens'] ?? body['max_completion_tokens']).toBe(500);
      const lie = error(`Unsupported parameter: '${fields[number - 1] ?? 'model'}'`);
      // One answer in two has begun, and is billed.
      return number % 2 === 0
        ? { lines: [event({ choices: [{ delta: { content: 'I' } }] }), event({ error: { ...lie, code: 400 } })] }
        : { status: 400, body: { error: lie } };
    };
    const { project, ada } = await start(
      ', maxOutputTokens: 500, temperature: 0.2, topP: 0.5, reasoningEffort: low, lenient: true',
      'budget: { tokens: 2000 }\n',
    );
    for (const step of ['0', '1', '2']) await ask(ada, step);
    expect(server.requests.length).toBeGreaterThan(1);
    expect(server.requests.length).toBeLessThanOrEqual(4);
    const [used] = await bench.testing.rows<{ used: number; held: number }>(
      project,
      'SELECT sum(input_tokens + output_tokens) AS used, max(held_tokens) AS held FROM model_calls',
    );
    expect(used?.used).toBeLessThanOrEqual(used?.held ?? 0);
  });

  test('gets four requests where nothing is billed', async () => {
    answers = (_body, number) => ({
      status: 400,
      body: { error: error(`Unsupported parameter: '${fields[number - 1] ?? 'model'}'`) },
    });
    const { ada } = await start(
      ', maxOutputTokens: 500, temperature: 0.2, topP: 0.5, reasoningEffort: low, lenient: true',
      'budget: { usd: 1 }\n',
    );
    expect(await ask(ada)).toMatchObject({ status: 424 });
    expect(server.requests).toHaveLength(4);
  });

  test('gets eight requests of one step, whatever candidates there are', async () => {
    answers = () => ({ status: 404, body: { error: error('It has been retired.') } });
    const presets = Array.from({ length: 10 }, (_, n) => `p${n}: { provider: one, model: m${n} }`).join(', ');
    const names = Array.from({ length: 10 }, (_, n) => `p${n}`).join(', ');
    const { project, ada } = await start(` }, ${presets}, all: { model-list: [${names}]`, '', { model: 'all' });
    expect(await ask(ada)).toMatchObject({ status: 424 });
    expect(server.requests).toHaveLength(8);
    expect((await failureOf(project)).message).toMatch(/preset p0.*Also asked: .*preset p7.*2 more.*not asked/);
  });
});

describe('a long question that is refused without a word', () => {
  const long = (chars: number) => ({
    messages: [
      { role: 'user', content: 'Read it.' },
      {
        role: 'assistant',
        content: null,
        tool_calls: [{ id: 'c1', type: 'function', function: { name: 'file_read', arguments: '{}' } }],
      },
      { role: 'tool', tool_call_id: 'c1', content: 'word '.repeat(chars / 5) },
    ],
  });
  const page = '<html><head><title>413 Request Entity Too Large</title></head><hr>nginx</html>';

  test.each<[string, Behaviour]>([
    ['a page of 413', { status: 413, body: page }],
    ['an empty 400', { status: 400 }],
  ])('is suspected of its length, and nothing else is: %s', async (_, refusal) => {
    answers = () => refusal;
    const { ada } = await start(', contextLimit: 20000');
    expect(await ask(ada, '0', long(60_000))).toMatchObject({
      status: 422,
      text: expect.stringContaining('context-suspected'),
    });
    expect(await ask(ada, '1', long(2_000))).toMatchObject({ status: 424 });
  });

  test('is suspected beside what was accepted, whatever the context is', async () => {
    answers = () => yes;
    const { ada } = await start(', contextLimit: 1000000');
    await ask(ada, '0', long(2_000));
    answers = () => ({ status: 413, body: page });
    expect(await ask(ada, '1', long(60_000))).toMatchObject({ status: 422 });
  });

  test('waits after one error of the server, and is suspected after the second', async () => {
    answers = () => ({ status: 500 });
    const { project, ada } = await start(', contextLimit: 20000');
    expect(await ask(ada, '0', long(60_000))).toMatchObject({
      status: 424,
      text: expect.stringContaining('provider-unavailable'),
    });
    bench.testing.setNow(noon + 60_000);
    const [turn] = await bench.testing.rows<{ id: string }>(project, 'SELECT id FROM turns');
    const claimed = await bench.claim(project, turn?.id ?? '');
    const again = begun(bench, project, 'ada', turn?.id ?? '', claimed.body as unknown as ClaimAnswer);
    expect(await ask(again, '0', long(60_000))).toMatchObject({
      status: 422,
      text: expect.stringContaining('context-suspected'),
    });
  });

  test('is no overflow for a candidate that says another thing', async () => {
    answers = () => ({ status: 400, body: { error: error('A call lacks its thought_signature.') } });
    const { ada } = await start(', contextLimit: 20000');
    expect(await ask(ada, '0', long(60_000))).toMatchObject({ status: 424 });
  });
});

test('a schema that cannot be compiled ends the turn with its tool', async () => {
  answers = () => ({
    status: 500,
    body: { error: { message: 'Failed to initialize samplers: failed to parse grammar' } },
  });
  const { project, ada } = await start('');
  const tools = [{ type: 'function', function: { name: 'file_read', parameters: { type: 'object' } } }];
  expect(await ask(ada, '0', { ...question, tools })).toMatchObject({ status: 424 });
  expect(await failureOf(project)).toMatchObject({
    code: 'schema-refused',
    message: expect.stringContaining('the tools file_read'),
  });
});
