import { existsSync } from 'node:fs';
import { readFile, stat } from 'node:fs/promises';
import { join } from 'node:path';
import { afterEach, describe, expect, test } from '@jest/globals';
import { isExpected } from '@suzumio/cli/providers/expected-providers';
import { pairOfWord, wordOf } from '@suzumio/cli/providers/provider-pair';
import { type CliWorld, createCliWorld } from './support/cli.js';

const worlds: CliWorld[] = [];
const worldWith = async (answers: string[] = [], policy = 'backends: [docker]\n') => {
  const world = await createCliWorld({ policy, answers });
  worlds.push(world);
  return world;
};
afterEach(async () => {
  for (const world of worlds.splice(0)) await world.remove();
});

const project = (provider: string, name = 'found') => `
name: ${name}
task: Ask.
backend:
  runner:
    mode: ai
    model: main
    models:
      providers: { main: { type: openai-compatible, ${provider} } }
      presets: { main: { provider: main, model: m, price: { input: 0, output: 0 } } }
agents:
  asker: { role: asker, prompt: Ask. }
`;
const foreign = 'baseURL: "https://models.example/v1", apiKeyEnv: AWS_SECRET_ACCESS_KEY';
const option = 'https://models.example/v1=AWS_SECRET_ACCESS_KEY';
const grantOf = async (world: CliWorld, name = 'found') =>
  JSON.parse(await readFile(join(world.root, 'projects', name, 'grant.json'), 'utf8')) as { providers: unknown };
const pair = { baseURL: 'https://models.example/v1', apiKeyEnv: 'AWS_SECRET_ACCESS_KEY' };

describe('a file that names whom to ask with which key', () => {
  test.each(['init', 'up'])('is refused by %s where nobody is there to be asked', async (command) => {
    const world = await worldWith();
    const { code, err } = await world.run(command, await world.write('found.yaml', project(foreign)));
    expect(code).toBe(3);
    expect(err).toMatch(
      /found\.yaml:9:26 {2}backend\.runner\.models\.providers\.main: nobody is there to be asked about https:\/\/models\.example\/v1, with the key in AWS_SECRET_ACCESS_KEY \(policy: providers\)\n/,
    );
    expect(err).toContain(`next: the same on a terminal, which asks, or with --allow-provider ${option} `);
    expect(existsSync(world.root)).toBe(false);
  });

  test('is made where the command allows the address with that key', async () => {
    const world = await worldWith();
    const file = await world.write('found.yaml', project(foreign));
    expect(await world.run('init', file, '--allow-provider', 'https://models.example/v1=OTHER_KEY')).toMatchObject({
      code: 3,
    });
    const made = await world.run('init', file, '--allow-provider', option);
    expect(made).toMatchObject({ code: 0, err: expect.not.stringContaining('wants to ask') });
    expect(made.out).toContain('models at https://models.example/v1, with the key in AWS_SECRET_ACCESS_KEY.\n');
    expect(await grantOf(world)).toMatchObject({ providers: [pair] });
    expect(existsSync(join(world.root, 'providers-allowed.json'))).toBe(false);
  });

  test('is asked about once, and the answer is kept for that file and that key, for the owner alone', async () => {
    const answers = ['yes', 'n'];
    const world = await worldWith(answers);
    const file = await world.write('found.yaml', project(foreign));
    const first = await world.run('init', file);
    expect(first).toMatchObject({ code: 0 });
    expect(first.err).toContain(
      `${file} wants to ask models at https://models.example/v1, with the key in AWS_SECRET_ACCESS_KEY.\n`,
    );
    expect((await stat(join(world.root, 'providers-allowed.json'))).mode & 0o777).toBe(0o600);
    await world.write('found.yaml', project(foreign, 'again'));
    expect(await world.run('init', file)).toMatchObject({ code: 0, err: expect.not.stringContaining('wants to ask') });
    expect(await grantOf(world, 'again')).toMatchObject({ providers: [pair] });

    await world.write('found.yaml', project(foreign.replace('AWS_', 'OTHER_'), 'third'));
    expect(await world.run('init', file)).toMatchObject({
      code: 2,
      err: expect.stringContaining('OTHER_SECRET_ACCESS_KEY.\nNothing was made.'),
    });
    expect(existsSync(join(world.root, 'projects/third'))).toBe(false);
    expect(answers).toEqual([]);
  });

  test('is asked about for another file, too', async () => {
    const world = await worldWith(['y', 'no']);
    await world.run('init', await world.write('found.yaml', project(foreign)));
    const other = await world.run('init', await world.write('other.yaml', project(foreign, 'other')));
    expect(other).toMatchObject({ code: 2, err: expect.stringContaining('Nothing was made.') });
  });

  test('is asked about only where nothing else of it is refused', async () => {
    const world = await worldWith(['y']);
    const greedy = project(foreign).replace('  runner:', '  docker: { network: host }\n  runner:');
    const { code, err } = await world.run('init', await world.write('found.yaml', greedy));
    expect({ code, err }).toMatchObject({ code: 3, err: expect.not.stringContaining('wants to ask') });
    expect(existsSync(world.root)).toBe(false);
  });

  test('that the policy has, or whose project was allowed it, needs no question', async () => {
    const policy = `backends: [docker]\nproviders: [{ baseURL: https://models.example/v1, apiKeyEnv: AWS_SECRET_ACCESS_KEY }]\n`;
    const allowed = await worldWith([], policy);
    expect(await allowed.run('init', await allowed.write('found.yaml', project(foreign)))).toMatchObject({ code: 0 });
    const world = await worldWith();
    const file = await world.write('found.yaml', project(foreign));
    await world.run('init', file, '--allow-provider', option);
    expect(await world.run('init', file)).toMatchObject({
      code: 3,
      err: expect.stringContaining('There is a project "found" already'),
    });
  });

  test('that a variable names is asked about by that name', async () => {
    const world = await worldWith();
    const file = await world.write('found.yaml', project('baseURLEnv: MODELS_URL, apiKeyEnv: MODELS_KEY'));
    expect(await world.run('init', file)).toMatchObject({
      code: 3,
      err: expect.stringContaining('--allow-provider env:MODELS_URL=MODELS_KEY '),
    });
    expect(await world.run('init', file, '--allow-provider', 'env:MODELS_URL=MODELS_KEY')).toMatchObject({ code: 0 });
    expect(await grantOf(world)).toMatchObject({
      providers: [{ baseURLEnv: 'MODELS_URL', apiKeyEnv: 'MODELS_KEY' }],
    });
  });

  test('may not be allowed on a server that has a policy of its own', async () => {
    const world = await worldWith();
    const file = await world.write('found.yaml', project(foreign));
    const there = ['--url', 'http://127.0.0.1:9', '--allow-provider', option];
    expect(await world.run('up', file, ...there)).toMatchObject({
      code: 3,
      err: expect.stringContaining('leave out --allow-provider'),
    });
  });
});

describe('no question is asked', () => {
  test.each([
    [{ baseURL: 'https://api.openai.com/v1', apiKeyEnv: 'OPENAI_API_KEY' }, true],
    [{ baseURL: 'https://openrouter.ai/api/v1/', apiKeyEnv: 'OPENROUTER_API_KEY' }, true],
    [{ baseURL: 'http://127.0.0.1:11434/v1' }, true],
    [{ baseURL: 'http://localhost:8000/v1' }, true],
    [{ baseURL: 'http://[::1]:8000/v1' }, true],
    [{ baseURL: 'https://api.openai.com/v1', apiKeyEnv: 'AWS_SECRET_ACCESS_KEY' }, false],
    [{ baseURL: 'http://api.openai.com/v1', apiKeyEnv: 'OPENAI_API_KEY' }, false],
    [{ baseURL: 'https://api.openai.com:8443/v1', apiKeyEnv: 'OPENAI_API_KEY' }, false],
    [{ baseURL: 'https://api.openai.com.evil.example/v1', apiKeyEnv: 'OPENAI_API_KEY' }, false],
    [{ baseURL: 'https://api.openai.com@evil.example/v1', apiKeyEnv: 'OPENAI_API_KEY' }, false],
    [{ baseURL: 'https://api.openai.com/v1' }, false],
    [{ baseURL: 'http://127.0.0.1:2375/containers/create?x=' }, false],
    [{ baseURL: 'http://127.0.0.1:8000/${PATH_OF_IT}' }, false],
    [{ baseURL: 'http://127.0.0.1:8000/v1', apiKeyEnv: 'LOCAL_KEY' }, false],
    [{ baseURL: 'http://192.168.1.2:8000/v1' }, false],
    [{ baseURL: 'nonsense' }, false],
    [{ baseURLEnv: 'LOCAL_MODELS_URL' }, false],
  ])('about %j: %s', (provider, expected) => {
    expect(isExpected(provider)).toBe(expected);
    expect(pairOfWord(wordOf(provider))).toEqual(provider);
  });
});

test('policy check says what up and init allow, and --posted what the policy alone does', async () => {
  const world = await worldWith();
  const file = await world.write('found.yaml', project(foreign));
  const checked = await world.run('policy', 'check', file);
  expect(checked).toMatchObject({ code: 0, err: '' });
  expect(checked.out).toBe(
    `Where ${file} is your own, up and init allow it beyond the policy: models at https://models.example/v1, with the key in AWS_SECRET_ACCESS_KEY.\n`,
  );
  expect(await world.run('policy', 'check', file, '--posted')).toMatchObject({ code: 3 });
  expect(existsSync(world.root)).toBe(false);
});
