import { afterEach, beforeEach, expect, test } from '@jest/globals';
import { stepHeader } from '@suzumio/protocol/model-chat';
import { type Behaviour, type ModelServer, startModelServer } from '../../../../test/support/model-server.js';
import { allowing, type Begun, type ToolhostBench, toolhostBench } from '../toolhost-client.js';

let server: ModelServer;
let other: ModelServer;
let bench: ToolhostBench;
let behaviour: Behaviour;

beforeEach(async () => {
  behaviour = { text: 'Yes.' };
  server = await startModelServer(() => behaviour);
  other = await startModelServer(() => ({ text: 'From the other.' }));
  bench = await toolhostBench(allowing(...pairs()), {
    FIRST_KEY: 'key-of-the-first',
    OTHER_KEY: 'key-of-the-other',
    WHERE: other.baseURL,
  });
});
afterEach(async () => {
  await bench.close();
  await Promise.all([server.close(), other.close()]);
});

/** What the operator has written down: each address with the key that is meant for it. */
const pairs = () => [
  { baseURL: server.baseURL, apiKeyEnv: 'FIRST_KEY' },
  { baseURLEnv: 'WHERE', apiKeyEnv: 'OTHER_KEY' },
];

const create = (provider: string) =>
  bench.testing.create(`
name: thinkers
task: Think.
backend:
  runner:
    mode: ai
    model: main
    models:
      providers:
        chosen: { type: openai-compatible, ${provider} }
        spare: { type: openai-compatible, baseURLEnv: WHERE, apiKeyEnv: OTHER_KEY }
      presets:
        quick: { provider: chosen, model: quick-1 }
        second: { provider: spare, model: spare-1 }
        main: { model-list: [quick, second] }
agents:
  ada: { role: thinker, prompt: Think. }
`);

async function ask(attempt: Begun, step: string): Promise<{ status: number; code: string; detail: string }> {
  const response = await attempt.ask({ messages: [{ role: 'user', content: 'Well?' }] }, { [stepHeader]: step });
  const { code = '', detail = '' } = (await response.json()) as { code?: string; detail?: string };
  return { status: response.status, code, detail };
}

const failure = async (project: string) => {
  const [turn] = await bench.testing.rows<{ status: string; failure_json: string }>(
    project,
    'SELECT status, failure_json FROM turns',
  );
  return { status: turn?.status, ...(JSON.parse(turn?.failure_json ?? '{}') as { code?: string; message?: string }) };
};

test.each([
  ['an address with its key', () => `baseURL: "${server.baseURL}", apiKeyEnv: FIRST_KEY`],
  ['an address that a variable names, with the key of that', () => 'baseURLEnv: WHERE, apiKeyEnv: OTHER_KEY'],
])('%s is asked as long as the policy has both', async (_name, provider) => {
  const project = await create(provider());
  const ada = await bench.begin(project, 'ada');
  expect((await ask(ada, '0')).status).toBe(200);
});

test.each([
  [
    "another's key for an address",
    () => `baseURL: "${server.baseURL}", apiKeyEnv: OTHER_KEY`,
    'apiKeyEnv: OTHER_KEY is not the key for it',
  ],
  ['an address without its key', () => `baseURL: "${server.baseURL}"`, 'apiKeyEnv: no model is called there without'],
  ['a key for an address of its own', () => `baseURL: "${other.baseURL}", apiKeyEnv: FIRST_KEY`, 'baseURL: no model'],
  [
    'a key for an address that another variable names',
    () => 'baseURLEnv: WHERE, apiKeyEnv: FIRST_KEY',
    'apiKeyEnv: FIRST_KEY is not the key for it',
  ],
  ['a variable that nobody meant as an address', () => 'baseURLEnv: HOME', 'baseURLEnv: no model is called there'],
])('%s is refused at the question: nobody is asked, and the turn fails at once', async (_name, provider, why) => {
  const project = await create(provider());
  const ada = await bench.begin(project, 'ada');
  const answer = await ask(ada, '0');
  expect(answer).toMatchObject({ status: 403, code: 'policy-denied' });
  expect(answer.detail).toContain('provider "chosen" of preset quick');
  expect(answer.detail).toContain(why);
  expect(await failure(project)).toMatchObject({ status: 'failed', code: 'policy-denied', message: answer.detail });
  expect([...server.requests, ...other.requests]).toEqual([]);
});

test('a policy that has changed holds from the next question on', async () => {
  const project = await create(`baseURL: "${server.baseURL}", apiKeyEnv: FIRST_KEY`);
  const ada = await bench.begin(project, 'ada');
  expect((await ask(ada, '0')).status).toBe(200);
  await bench.restart(allowing(...pairs().slice(1)));
  // What was answered before is in the journal, and asks nobody.
  expect((await ask(ada, '0')).status).toBe(200);
  expect(await ask(ada, '1')).toMatchObject({ status: 403, code: 'policy-denied' });
  expect(server.requests).toHaveLength(1);
  expect(other.requests).toEqual([]);
});

test('a provider that points elsewhere is not followed: no key goes where the policy does not have it', async () => {
  behaviour = { status: 307, headers: { location: `${other.baseURL}/chat/completions` } };
  const project = await create(`baseURL: "${server.baseURL}", apiKeyEnv: FIRST_KEY`);
  const ada = await bench.begin(project, 'ada');
  expect((await ask(ada, '0')).status).toBe(200);
  expect(other.requests.map(({ headers }) => headers.authorization)).toEqual(['Bearer key-of-the-other']);
});
