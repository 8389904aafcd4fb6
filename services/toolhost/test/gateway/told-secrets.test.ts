import { readdir, readFile } from 'node:fs/promises';
import { join } from 'node:path';
import { afterEach, beforeEach, expect, test } from '@jest/globals';
import {
  type Behaviour,
  event,
  type ModelRequest,
  type ModelServer,
  startModelServer,
} from '../../../../test/support/model-server.js';
import { allowing, type ToolhostBench, toolhostBench } from '../toolhost-client.js';

// Providers, and proxies before them, say back what they were sent. What opens a provider is told nobody all the same.

const key = 'abcd/secret+key$=123456';
const headerValue = 'team-pass-7890';
const password = 'p@ss word:42';

let server: ModelServer;
let bench: ToolhostBench;
let answers: (request: ModelRequest) => Behaviour;
let address: string;

beforeEach(async () => {
  server = await startModelServer((request) => answers(request));
  address = server.baseURL.replace('//', `//user:${encodeURIComponent(password)}@`);
  bench = await toolhostBench(
    allowing({ baseURLEnv: 'MODEL_URL', apiKeyEnv: 'MODEL_KEY' }, { baseURLEnv: 'MODEL_URL' }),
    { MODEL_URL: address, MODEL_KEY: key },
  );
});
afterEach(async () => {
  await bench.close();
  await server.close();
});

const yaml = (keyOf: string) => `
name: told
task: Think.
backend:
  runner:
    mode: ai
    model: only
    models:
      providers: { one: { type: openai-compatible, baseURLEnv: MODEL_URL${keyOf}, headers: { x-team: ${headerValue} } } }
      presets: { only: { provider: one, model: m } }
agents:
  ada: { role: thinker, prompt: Think., tools: [] }
`;

/** Everything that was written, answered and logged. */
async function everything(answer: string): Promise<string> {
  const files = await readdir(bench.testing.root, { recursive: true, withFileTypes: true });
  const written = await Promise.all(
    files.filter((file) => file.isFile()).map((file) => readFile(join(file.parentPath, file.name), 'latin1')),
  );
  return [answer, JSON.stringify(bench.logs()), ...written].join('\n');
}

async function ask(keyOf = ', apiKeyEnv: MODEL_KEY'): Promise<{ status: number; text: string; all: string }> {
  const project = await bench.testing.create(yaml(keyOf));
  const ada = await bench.begin(project, 'ada');
  const response = await ada.ask({ messages: [{ role: 'user', content: 'Well?' }] });
  const text = await response.text();
  return { status: response.status, text, all: await everything(text) };
}

const said = ({ headers }: ModelRequest) => headers.authorization as string;
const long = 'x'.repeat(500 - 'the key  '.length - 10);

test.each<[string, (request: ModelRequest) => Behaviour]>([
  ['as an error', (request) => ({ status: 401, body: { error: { message: `the key ${said(request)} is wrong` } } })],
  ['without its scheme', () => ({ status: 401, body: { error: `Received=${key}, expected another` } })],
  ['as a type of error', (request) => ({ status: 400, body: { error: { type: said(request), message: 'no' } } })],
  ['in JSON within the JSON', () => ({ status: 403, body: { error: { message: JSON.stringify({ sent: key }) } } })],
  ['as a part of an address', () => ({ status: 404, body: { message: `/x?key=${encodeURIComponent(key)}` } })],
  ['where an error is cut', () => ({ status: 400, body: { error: { message: `the key ${long} ${key}` } } })],
  ['where an outage is told', (request) => ({ status: 503, body: { error: { message: said(request) } } })],
  ['in its answer', (request) => ({ lines: [event({ error: { code: 401, message: said(request) } })] })],
  ['as text', (request) => ({ status: 401, headers: { 'content-type': 'text/plain' }, body: said(request) })],
])('a key that the provider says back %s is told nobody', async (_where, given) => {
  answers = given;
  const { status, all } = await ask();
  expect(status).toBeGreaterThanOrEqual(400);
  expect(server.requests[0]?.headers.authorization).toBe(`Bearer ${key}`);
  expect(all).toContain('the provider ');
  for (const part of [key, encodeURIComponent(key), key.slice(0, 11)]) expect(all).not.toContain(part);
});

test('so are headers that the project sets, and the password in an address', async () => {
  answers = (request) => ({
    status: 400,
    body: { error: { message: `${String(request.headers['x-team'])}, ${said(request)}, ${password}, ${address}` } },
  });
  const { all, text } = await ask('');
  const sent = server.requests[0]?.headers.authorization;
  expect(sent).toBe(`Basic ${Buffer.from(`user:${password}`).toString('base64')}`);
  expect(text).toContain('[redacted], Basic [redacted], [redacted], [redacted]');
  for (const secret of [password, encodeURIComponent(password), String(sent).slice(6)]) {
    expect(all).not.toContain(secret);
  }
});

test('what else a provider says is told', async () => {
  answers = () => ({ status: 400, body: { error: { message: 'no such parameter: topP', type: 'invalid_request' } } });
  expect((await ask()).text).toContain('the provider answered 400: no such parameter: topP (invalid_request)');
});
