import { afterAll, beforeAll, describe, expect, test } from '@jest/globals';
import { type Behaviour, event, type ModelServer, startModelServer } from '../../../../test/support/model-server.js';
import { askProvider, written } from '../../src/gateway/ask-provider.js';
import { AskProgress } from '../../src/gateway/ask-progress.js';
import { chatFormat } from '../../src/gateway/chat.js';
import { ProviderFailure, type ProviderFailureKind } from '../../src/gateway/provider-failure.js';
import { responsesFormat } from '../../src/gateway/responses.js';

let server: ModelServer;
let behaviour: Behaviour;
beforeAll(async () => {
  server = await startModelServer(() => behaviour);
});
afterAll(() => server.close());

async function failureFrom(
  given: Behaviour,
  format = chatFormat,
  progress = new AskProgress(),
): Promise<ProviderFailure> {
  behaviour = given;
  const failure: unknown = await askProvider(
    written({
      baseURL: server.baseURL,
      format,
      headers: {},
      body: { model: 'm', messages: [{ role: 'user', content: 'Well?' }], stream: true },
      timeoutMs: 10_000,
      silenceMs: 5_000,
    }),
    undefined,
    progress,
  ).catch((error: unknown) => error);
  if (failure instanceof ProviderFailure) return failure;
  throw new Error(`expected a failure, got ${JSON.stringify(failure)}`);
}

const json = { 'content-type': 'application/json' };
const answered = (body: object): Behaviour => ({ status: 200, headers: json, body });

describe('an error in an answer with status 200', () => {
  const errors: [string, object, ProviderFailureKind][] = [
    ['a code that is a status', { message: 'No such key.', code: 401 }, 'key-rejected'],
    ['a status written as a text', { message: 'No such key.', status: '403' }, 'key-rejected'],
    ['the code of a wrong key', { message: 'No such key.', code: 'invalid_api_key' }, 'key-rejected'],
    ['the type of a wrong key', { message: 'No such key.', type: 'authentication_error', code: null }, 'key-rejected'],
    ['the code of an unknown model', { message: 'No such model.', code: 'model_not_found' }, 'model-unknown'],
    ['the type of an unknown model', { message: 'No such model.', type: 'not_found_error' }, 'model-unknown'],
    ['a wrong question', { message: 'No such field.', type: 'invalid_request_error' }, 'request-refused'],
    ['a wrong question by its status', { message: 'No such field.', code: 422 }, 'request-refused'],
    ['a long conversation', { message: 'Too long.', code: 'context_length_exceeded' }, 'context-overflow'],
    ['a limit', { message: 'Slow down.', code: 429 }, 'unavailable'],
    [
      'a limit, beside a type of another kind',
      { message: 'Slow down.', code: 'rate_limit_exceeded', type: 'invalid_request_error' },
      'unavailable',
    ],
    ['an outage', { message: 'Sorry.', code: 503 }, 'unavailable'],
    ['nothing but words', { message: 'Sorry.' }, 'unavailable'],
  ];

  test.each(errors)('is told in its words and is what it says: %s', async (_what, error, kind) => {
    const words = expect.stringContaining((error as { message: string }).message);
    for (const given of [
      answered({ error }),
      answered({ id: 'gen-1', choices: [{ error, finish_reason: 'error', message: { content: '' } }] }),
      { lines: [event({ error })] },
      { lines: [event({ choices: [{ delta: { content: 'I' } }] }), event({ choices: [{ delta: {}, error }] })] },
    ]) {
      expect(await failureFrom(given)).toMatchObject({ kind, message: words });
    }
    expect(await failureFrom(answered({ error }), responsesFormat)).toMatchObject({ kind, message: words });
  });

  test.each(errors.filter(([, error]) => 'code' in error && typeof error.code === 'number'))(
    'is what it says where it stands alone: %s',
    async (_what, error, kind) => {
      const message = expect.stringContaining((error as { message: string }).message);
      expect(await failureFrom(answered(error))).toMatchObject({ kind, message });
      expect(await failureFrom(answered(error), responsesFormat)).toMatchObject({ kind, message });
    },
  );

  test('that is a limit is no fault of the question, like a status of the same', async () => {
    const progress = new AskProgress();
    await failureFrom(answered({ error: { message: 'Slow down.', code: 429 } }), chatFormat, progress);
    expect(progress.mayBeItsFault).toBe(false);
  });

  test('ends an answer that only names it', async () => {
    const lines = [
      event({ choices: [{ delta: { content: 'I was' } }] }),
      event({ choices: [{ delta: {}, finish_reason: 'error' }] }),
    ];
    expect(await failureFrom({ lines })).toMatchObject({ kind: 'unavailable' });
  });
});

describe('what a provider says', () => {
  test.each<[string, string | object, string]>([
    ['a detail', { detail: 'Not authenticated' }, 'Not authenticated'],
    [
      'details of a question',
      { detail: [{ loc: ['body', 'messages', 0], msg: 'Field required', type: 'missing' }, { msg: 'Too many' }] },
      'body.messages.0: Field required; Too many',
    ],
    ['a message that is no text', { object: 'error', message: { detail: [{ msg: 'Extra inputs' }] } }, 'Extra inputs'],
    [
      'errors in a list',
      { success: false, errors: [{ code: 10000, message: 'Authentication error' }] },
      'Authentication error',
    ],
    [
      'an error and what it means',
      { error: 'invalid_request', error_description: 'No such grant' },
      'invalid_request: No such grant',
    ],
    ['a problem document', { type: 'about:blank', title: 'Forbidden', detail: 'Not here' }, 'Forbidden: Not here'],
    [
      'a gateway of the server behind it',
      { error: { message: 'Provider returned error', code: 400, metadata: { raw: '{"oops":1}', provider_name: 'X' } } },
      'Provider returned error: {"oops":1}',
    ],
    ['fields that nobody knows', { fault: { why: 'quota' } }, '{"fault":{"why":"quota"}}'],
    ['a text', 'upstream connect error\n or  disconnect', 'upstream connect error or disconnect'],
    ['JSON that is cut', '{"error":{"message":"It is', '{"error":{"message":"It is'],
    ['a page', '<!DOCTYPE html><html><head><title>Access denied</title></head><body>…</body></html>', 'Access denied'],
  ])('is told: %s', async (_form, body, words) => {
    expect((await failureFrom({ status: 400, body })).message).toMatch(
      new RegExp(`^the provider answered 400: ${words.replace(/[.*+?^${}()|[\]\\]/g, '\\$&')}( \\(|$)`),
    );
    const said = await failureFrom({ status: 200, body });
    expect(said.message).toContain(words);
  });

  test('is told of a page that has no title only by its status', async () => {
    expect((await failureFrom({ status: 502, body: '<html><h1>Bad</h1></html>' })).message).toBe(
      'the provider answered 502',
    );
  });

  test('decides what follows, also where it is a text', async () => {
    const body = 'Input validation error: prompt is too long';
    expect((await failureFrom({ status: 422, body })).kind).toBe('context-overflow');
  });

  test.each([
    { error: { code: 400, message: 'API key not valid. Please pass a valid API key.', status: 'INVALID_ARGUMENT' } },
    { error: { code: 'invalid_api_key', message: 'No.' } },
    { code: 'Client specified an invalid argument', error: 'Incorrect API key provided: xx' },
  ])('may be of its key, with a status that is of the question: %j', async (body) => {
    expect((await failureFrom({ status: 400, body })).kind).toBe('key-rejected');
  });
});
