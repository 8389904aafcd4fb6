import { mkdtempSync, realpathSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, beforeAll, expect, test } from '@jest/globals';
import { type ModelRequest, type ModelServer, startModelServer } from './support/model-server.js';
import { eventually } from './support/poll.js';
import { openProject } from './support/project.js';
import { type Stack, startStack } from './support/stack.js';

const manifest = {
  id: 'own',
  tools: [
    { name: 'own.look', description: 'Looks around.', inputSchema: { type: 'object' } },
    { name: 'own.tell', description: 'Tells the person.', inputSchema: { type: 'object' } },
    { name: 'own.break', description: 'Breaks.', inputSchema: { type: 'object' } },
  ],
};
const runner = `
import { writeFile } from 'node:fs/promises';
import { word } from './lib/word.mjs';
const refused = (path) => writeFile(path, 'x').then(() => 'written', ({ code }) => code);
export const createRunnerToolpack = ({ workspace, callSupport }) => ({
  tools: {
    'own.look': async () => ({
      output: [word, workspace, process.cwd(), await refused(import.meta.filename), await refused('/turn/door/toolpacks/own/x')].join(' '),
    }),
    'own.tell': (input) => callSupport('own.tell', input),
    'own.break': () => { for (;;) process.kill(process.pid, 'SIGKILL'); },
  },
});
`;
const controller = `
export const createControllerToolpack = ({ store }) => ({
  'own.tell': ({ text }) => ({ output: 'Sent ' + store.sendMessage({ recipient: 'user', body: text }).id }),
});
`;

let pack: string;
let server: ModelServer;
let stack: Stack;
beforeAll(async () => {
  pack = realpathSync(mkdtempSync(join(tmpdir(), 'suzumio-pack-')));
  writeFileSync(join(pack, 'suzumio.toolpack.json'), JSON.stringify(manifest));
  writeFileSync(join(pack, 'runner.mjs'), runner.replace('./lib/word.mjs', './word.mjs'));
  writeFileSync(join(pack, 'word.mjs'), `export const word = 'hello';\n`);
  writeFileSync(join(pack, 'controller.mjs'), controller);
  server = await startModelServer((request) => answerTo(request));
  stack = await startStack({
    environment: { MODEL_KEY: 'sk-test-0123456789' },
    policy: {
      providers: [{ baseURL: server.baseURL, apiKeyEnv: 'MODEL_KEY' }],
      toolpacks: { directories: [pack] },
    },
  });
});
afterAll(async () => {
  await stack.stop();
  await server.close();
  rmSync(pack, { recursive: true, force: true });
});

function answerTo({ body }: ModelRequest) {
  const asked = body.messages.filter(({ role }) => role === 'assistant').length;
  const calls = [
    [{ name: 'own_look', arguments: {} }],
    [{ name: 'own_tell', arguments: { text: 'From the sandbox.' } }],
    [{ name: 'own_break', arguments: {} }],
  ][asked];
  return calls ? { calls } : { text: 'Done.' };
}

test('a model uses the tools of a toolpack in a container, which reads its files and cannot write them', async () => {
  const file = `
name: lab
task: Look.
tools: { toolpacks: [{ id: own, path: ${pack} }] }
backend:
  docker: { keep: never }
  runner:
    mode: ai
    model: main
    models:
      providers: { local: { type: openai-compatible, baseURL: "${server.baseURL}", apiKeyEnv: MODEL_KEY } }
      presets: { main: { provider: local, model: scripted } }
agents:
  dev: { role: developer, prompt: Look., tools: ["own.*"] }
`;
  const message = { recipient: 'dev', body: 'Go.' };
  expect(await stack.api('POST', '/projects', { file, start: true, message })).toMatchObject({ status: 201 });
  const project = openProject(stack.root, 'lab');
  await eventually(
    'the turn is over',
    () => project.get<{ status: string }>('SELECT status FROM turns')?.status === 'completed',
    {
      show: () =>
        `${JSON.stringify(project.all('SELECT status, failure_json FROM turns'))}${stack.logs().slice(-2_000)}`,
    },
  );
  const calls = project.all<{ step: string; status: string; output: string; code: string | null; marked: number }>(
    'SELECT step, status, output_json AS output, error_code AS code, marked FROM tool_calls ORDER BY seq',
  );
  expect(calls).toMatchObject([
    {
      step: '0.0',
      status: 'succeeded',
      output: expect.stringMatching(/^"hello \/workspace \/workspace E(?:ROFS|ACCES|PERM) E\w+"$/),
      marked: 0,
    },
    { step: '1.0', status: 'succeeded', output: expect.stringMatching(/^"Sent msg_/), marked: 1 },
    { step: '1.0/support.1', status: 'succeeded' },
    {
      step: '2.0',
      status: 'failed',
      code: 'toolpack-failed',
      output: expect.stringContaining('its process ended (SIGKILL)'),
    },
  ]);
  expect(project.all(`SELECT body FROM messages WHERE recipient = 'user'`)).toEqual([{ body: 'From the sandbox.' }]);
  project.close();
});
