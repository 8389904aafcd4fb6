import { afterEach, beforeEach, expect, test } from '@jest/globals';
import type { ClaimAnswer } from '@suzumio/protocol/attempts';
import { stepHeader } from '@suzumio/protocol/model-chat';
import type { ProjectConfig } from '@suzumio/contract/model/project-config';
import { loadProjectText } from '@suzumio/core/profiles/load-project';
import { applyConfig } from '@suzumio/store/projects/apply-config';
import { newestVersion } from '@suzumio/store/sqlite/configs';
import { type ModelServer, startModelServer } from '../../../test/support/model-server.js';
import { allowing, type Begun, begun, type ToolhostBench, toolhostBench } from './toolhost-client.js';

let server: ModelServer;
let bench: ToolhostBench;
let project: string;

beforeEach(async () => {
  server = await startModelServer(() => ({ text: 'Yes.' }));
  bench = await toolhostBench(allowing({ baseURL: server.baseURL }));
  project = await bench.testing.create(file({}));
});
afterEach(async () => {
  await bench.close();
  await server.close();
});

const file = ({ model = 'small', prompt = 'Think.', tools = '[messages.send, artifacts.list]', env = 'one' }) => `
name: thinkers
task: Think.
backend:
  runner:
    mode: ai
    model: only
    models:
      providers: { one: { type: openai-compatible, baseURL: "${server.baseURL}" } }
      presets: { only: { provider: one, model: ${model} } }
agents:
  ada: { role: thinker, prompt: ${prompt}, tools: ${tools}, env: { KEY: ${env} } }
`;

const change = (config: ProjectConfig) =>
  bench.testing.write(project, (tx) =>
    applyConfig(tx, { base: newestVersion(tx), config, source: 'x', actor: 'test', snapshots: new Map() }),
  );

async function ask(attempt: Begun, step: string): Promise<number> {
  const response = await attempt.ask({ messages: [{ role: 'user', content: 'Well?' }] }, { [stepHeader]: step });
  await response.text();
  return response.status;
}
const given = ({ answer: { input, sandbox } }: Begun) => ({
  prompt: /Think\w*/.exec(input.turn.prompt)?.[0],
  agent: input.agent.prompt,
  tools: input.tools.map(({ name }) => name),
  env: sandbox.env,
});
const askedModels = () => server.requests.map(({ body }) => body.model);

test('a turn that is resumed ends with the prompt, the model, the tools and the variables that it began with', async () => {
  const first = await bench.begin(project, 'ada');
  const before = given(first);
  expect(before).toMatchObject({ tools: ['messages.send', 'artifacts.list'], env: { KEY: 'one' } });
  await change(
    loadProjectText(file({ model: 'large', prompt: 'Think-anew.', tools: '[messages.read]', env: 'two' }), 'f').config,
  );
  expect(await ask(first, '0')).toBe(200);
  await first.report('fail', { failure: { code: 'container-vanished', message: 'Gone.' } });
  const again = await bench.claim(project, first.turn);
  const second = begun(bench, project, 'ada', first.turn, again.body as unknown as ClaimAnswer);
  expect(given(second)).toEqual(before);
  expect(await ask(second, '1')).toBe(200);
  expect(askedModels()).toEqual(['small', 'small']);
  await second.report('complete', { output: { text: 'Done.' } });

  const next = await bench.begin(project, 'ada');
  expect(given(next)).toMatchObject({ agent: 'Think-anew.', tools: ['messages.read'], env: { KEY: 'two' } });
  expect(await ask(next, '0')).toBe(200);
  expect(askedModels().at(-1)).toBe('large');
});

test('a model that the newest version no longer has answers the turn that began with it', async () => {
  const begunBefore = await bench.begin(project, 'ada');
  const config = loadProjectText(file({}).replaceAll('only', 'other'), 'f').config;
  await change(config);
  expect(await ask(begunBefore, '0')).toBe(200);
});

test('what is uploaded for a tool that was taken away is refused', async () => {
  await change(loadProjectText(file({ tools: '[artifacts.publish]' }), 'f').config);
  const attempt = await bench.begin(project, 'ada');
  await attempt.upload('before');
  await change(loadProjectText(file({ tools: '[]' }), 'f').config);
  await expect(attempt.upload('after')).rejects.toThrow('tool-not-allowed');
});

test('an agent that is retired loses its turn at once', async () => {
  const attempt = await bench.begin(project, 'ada');
  const config = loadProjectText(file({}).replace('  ada:', '  ben:'), 'f').config;
  await change(config);
  expect(await ask(attempt, '0')).toBe(401);
  expect((await attempt.report('heartbeat')).body).toMatchObject({ cancel: true });
  expect(await attempt.report('complete', { output: { text: 'Done.' } })).toMatchObject({
    status: 409,
    body: { code: 'attempt-over' },
  });
  expect((await bench.claim(project, attempt.turn)).status).toBe(409);
});
