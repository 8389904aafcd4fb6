import { mkdir, readFile, writeFile } from 'node:fs/promises';
import { dirname, join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { afterAll, beforeAll, expect, test } from '@jest/globals';
import { freePort } from '../../test/support/free-port.js';
import { type ModelServer, startModelServer } from '../../test/support/model-server.js';
import { eventually } from '../../test/support/poll.js';
import { type CliWorld, createCliWorld, printed } from './support/cli.js';

const fixtures = fileURLToPath(new URL('../../test/fixtures/published/', import.meta.url));
const fragments = ['fragments/task.md', 'fragments/pm.yaml'];
/** Their projects, and how much is noted of each. */
const files: [string, string, number][] = [
  ['demo.yaml', 'demo', 1],
  ['ai-demo.yaml', 'ai-demo', 3],
  ['import-demo.yaml', 'import-demo', 0],
  ['e2e/formal-languages-websearch.yaml', 'e2e-formal-languages', 5],
  ['e2e/ramsey-explore.yaml', 'e2e-ramsey-explore', 7],
  ['e2e/square-proof.yaml', 'e2e-square-proof', 1],
  ['minimal.yaml', 'minimal', 0],
];

let models: ModelServer;
let world: CliWorld;
let serve: ReturnType<CliWorld['begin']>;
beforeAll(async () => {
  models = await startModelServer(() => ({ text: 'On it.' }));
  const places = [`baseURL: "${models.baseURL}"`, 'baseURLEnv: SUZUMIO_GATEWAY_BASE_URL'];
  const providers = places.map((place) => `  - { ${place}, apiKeyEnv: SUZUMIO_GATEWAY_API_KEY }\n`);
  world = await createCliWorld({ policy: `backends: [process]\nproviders:\n${providers.join('')}` });
  world.setEnvironment({
    SUZUMIO_GATEWAY_API_KEY: 'key-of-the-gateway',
    SUZUMIO_GATEWAY_BASE_URL: models.baseURL,
    SUZUMIO_CONTROLLER_URL: 'http://127.0.0.1:39400',
  });
  for (const name of [...files.map(([file]) => file), ...fragments]) {
    const text = await readFile(join(fixtures, name), 'utf8');
    await mkdir(dirname(join(world.directory, name)), { recursive: true });
    await writeFile(join(world.directory, name), asProcess(text));
  }
  serve = world.begin('serve', '--port', String(await freePort()));
  await printed(serve, 'Suzumio listens on');
});
afterAll(async () => {
  serve.interrupt();
  await serve.ended;
  await world.remove();
  await models.close();
});

/** The file with turns that need no engine, which its other keys still ask for, and models on this machine. */
function asProcess(text: string): string {
  const address = text.replace('https://gateway.example/v1', models.baseURL);
  if (address.includes('docker-chat')) return address.replace('kind: docker-chat', 'kind: process');
  return address.replace('backend:\n', 'backend:\n  kind: process\n');
}

test.each(files)('%s is checked, made, started, and its first agent takes a turn', async (name, project, notes) => {
  const file = join(world.directory, name);
  const noted = (text: string) => text.match(/^.*:\d+:\d+ {2}note: /gm)?.length ?? 0;
  const checked = await world.run('config', 'check', file);
  expect(checked).toMatchObject({ code: 0, out: expect.stringContaining(`${project} could be made here`) });
  expect(noted(checked.err)).toBe(notes);
  const json = JSON.parse((await world.run('config', 'check', file, '--json')).out) as { notes: object[] };
  expect(json.notes).toHaveLength(notes);
  const made = await world.run('init', file);
  expect(made).toMatchObject({ code: 0 });
  expect(noted(made.err)).toBe(notes);
  expect(await world.run('start', project)).toMatchObject({ code: 0 });
  expect(await world.run('send', project, 'pm', 'P1', 'Begin.')).toMatchObject({ code: 0 });
  const turns = async () => JSON.parse((await world.run('turns', project, '--json')).out) as { status: string }[];
  await eventually('the turn is over', async () => (await turns())[0]?.status === 'completed', {
    show: async () => (await world.run('turns', 'show', project, 'pm:1')).out,
  });
  expect((await world.run('messages', project)).code).toBe(0);
});

test.each(files)('%s, imported, is one of this format', async (name, project, notes) => {
  const file = join(world.directory, name);
  const imported = await world.run('config', 'import', file);
  expect(imported.code).toBe(0);
  expect(imported.err === '').toBe(notes === 0);
  const text = imported.out.replace(`name: ${project}`, `name: ${project}-imported`);
  await writeFile(file.replace('.yaml', '.imported.yaml'), text);
  const checked = await world.run('config', 'check', file.replace('.yaml', '.imported.yaml'));
  expect(checked).toMatchObject({ code: 0, err: '' });
  const rendered = (path: string) => world.run('config', 'render', path);
  const [before, after] = [await rendered(file), await rendered(file.replace('.yaml', '.imported.yaml'))];
  expect(after.out.replace(`name: ${project}-imported`, `name: ${project}`)).toBe(before.out);
});
