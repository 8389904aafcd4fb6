import { mkdir, readdir, readFile, writeFile } from 'node:fs/promises';
import { dirname, join, relative } from 'node:path';
import { fileURLToPath } from 'node:url';
import { afterAll, beforeAll, expect, test } from '@jest/globals';
import { candidatesFor } from '@suzumio/core/budgets/presets';
import { loadProjectText } from '@suzumio/core/profiles/load-project';
import { type ModelServer, startModelServer } from '../../test/support/model-server.js';
import { eventually } from '../../test/support/poll.js';
import { type CliWorld, createCliWorld } from './support/cli.js';

const fixtures = fileURLToPath(new URL('../../test/fixtures/published/', import.meta.url));
/** Their projects, how much is noted of each, and who takes a turn. */
const files: [string, string, number, string][] = [
  ['demo.yaml', 'demo', 1, 'pm'],
  ['ai-demo.yaml', 'ai-demo', 3, 'pm'],
  ['import-demo.yaml', 'import-demo', 0, 'pm'],
  ['e2e/formal-languages-websearch.yaml', 'e2e-formal-languages', 5, 'pm'],
  ['e2e/ramsey-explore.yaml', 'e2e-ramsey-explore', 7, 'pm'],
  ['e2e/square-proof.yaml', 'e2e-square-proof', 1, 'pm'],
  ['minimal.yaml', 'minimal', 0, 'pm'],
  ['guide/reviewed.yaml', 'guide-reviewed', 3, 'worker-2'],
  ['guide/experiment.yaml', 'guide-experiment', 1, 'experimenter'],
  ['guide/web-research.yaml', 'guide-web-research', 5, 'researcher'],
  ['guide/pipeline.yaml', 'guide-pipeline', 2, 'author'],
  ['guide/counted.yaml', 'guide-counted', 1, 'solver-3'],
  ['guide/complete.yaml', 'guide-complete', 6, 'pm'],
];

let models: ModelServer;
let world: CliWorld;
beforeAll(async () => {
  models = await startModelServer(({ body }) =>
    body.messages.at(-1)?.role === 'tool'
      ? { text: 'Done.' }
      : { calls: [{ name: 'messages_send', arguments: { recipient: 'user', body: 'On it.' } }] },
  );
  const places = [`baseURL: "${models.baseURL}"`, 'baseURLEnv: SUZUMIO_GATEWAY_BASE_URL'];
  const providers = places.map((place) => `  - { ${place}, apiKeyEnv: SUZUMIO_GATEWAY_API_KEY }\n`);
  world = await createCliWorld({ policy: `backends: [process]\nproviders:\n${providers.join('')}` });
  world.setEnvironment({
    SUZUMIO_GATEWAY_API_KEY: 'key-of-the-gateway',
    SUZUMIO_GATEWAY_BASE_URL: models.baseURL,
    SUZUMIO_CONTROLLER_URL: 'http://127.0.0.1:39400',
  });
  for (const entry of await readdir(fixtures, { recursive: true, withFileTypes: true })) {
    if (!entry.isFile()) continue;
    const text = await readFile(join(entry.parentPath, entry.name), 'utf8');
    const copy = join(world.directory, relative(fixtures, entry.parentPath), entry.name);
    await mkdir(dirname(copy), { recursive: true });
    await writeFile(copy, entry.name.endsWith('.yaml') ? asProcess(text) : text);
  }
  await world.serve();
});
afterAll(async () => {
  await world.remove();
  await models.close();
});

/** The file with turns that need no engine, which its other keys still ask for, and models on this machine. */
function asProcess(text: string): string {
  const address = text.replace('https://gateway.example/v1', models.baseURL);
  if (address.includes('docker-chat')) return address.replace('kind: docker-chat', 'kind: process');
  return address.includes('@import(profiles/') ? address : address.replace('backend:\n', 'backend:\n  kind: process\n');
}

test.each(files)(
  '%s is checked, rendered, made, started, and an agent takes a turn',
  async (name, project, notes, agent) => {
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
    const before = models.requests.length;
    expect(await world.run('send', project, agent, 'P1', 'Begin.')).toMatchObject({ code: 0 });
    const turns = async () => JSON.parse((await world.run('turns', project, '--json')).out) as { status: string }[];
    await eventually('the turn is over', async () => (await turns())[0]?.status === 'completed', {
      show: async () => (await world.run('turns', 'show', project, `${agent}:1`)).out,
    });
    const { config } = loadProjectText((await world.run('config', 'render', file)).out, name);
    if (config.backend.runner.mode === 'mock') return;
    // What the file says arrives where a model is asked, and what the model does, at the user.
    const [asked, again] = models.requests.slice(before);
    const { role, prompt, tools } = config.agents[agent] ?? { tools: [] };
    const told = JSON.stringify(asked?.body.messages);
    for (const text of [config.task, prompt, role, 'Begin.'])
      expect(told).toContain(JSON.stringify(text?.trim()).slice(1, -1));
    expect(asked?.headers['authorization']).toBe('Bearer key-of-the-gateway');
    const [preset] = candidatesFor(config, agent);
    expect(asked?.body).toMatchObject({
      model: 'gpt-5.5',
      tools: expect.arrayContaining(
        tools.map((tool) =>
          expect.objectContaining({ function: expect.objectContaining({ name: tool.replaceAll('.', '_') }) }),
        ),
      ),
      ...(preset?.settings.temperature !== undefined && { temperature: preset.settings.temperature }),
      ...(preset?.settings.reasoningEffort !== undefined && { reasoning_effort: preset.settings.reasoningEffort }),
    });
    expect(asked?.body.tools).toHaveLength(tools.length);
    expect(again?.body.messages.at(-1)).toMatchObject({ role: 'tool' });
    const mail = JSON.parse((await world.run('messages', project, '--json')).out) as object[];
    expect(mail).toContainEqual(expect.objectContaining({ sender: agent, recipient: 'user', body: 'On it.' }));
  },
);

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
