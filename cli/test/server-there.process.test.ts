import { afterAll, beforeAll, describe, expect, test } from '@jest/globals';
import type { Finding } from '@suzumio/cli/doctor/check';
import { createBullMqTransport } from '@suzumio/runtime/queue/bullmq-transport';
import { Sql } from '@suzumio/store/sqlite/sql';
import { defaultPolicy } from '@suzumio/core/policy/policy';
import { type TestApi, testApi } from '../../services/api/test/support/api.js';
import { freePort } from '../../test/support/free-port.js';
import { eventually } from '../../test/support/poll.js';
import { startRedis, type TestRedis } from '../../test/support/redis.js';
import { type CliWorld, createCliWorld } from './support/cli.js';

let redis: TestRedis;
let api: TestApi;
let world: CliWorld;
/** A project file, and all commands that speak of the server. */
let file: string;
let commands: readonly (readonly string[])[];
beforeAll(async () => {
  redis = await startRedis();
  api = await testApi({ policy: { ...defaultPolicy, images: ['image-of-the-server:*'] } }, (logger) =>
    createBullMqTransport({ redisUrl: redis.url, cell: 'main', logger }),
  );
  for (const service of ['scheduler', 'toolhost'] as const) {
    await api.cell.catalog.processes.enlist({ service, cell: api.cell.id, transport: 'test' });
  }
  world = await createCliWorld({ policy: "images: ['image-of-this-machine:1']\n" });
  file = await world.write('team.yaml', withImage('image-of-the-server:1'));
  commands = [
    ['doctor'],
    ['status'],
    ['workers'],
    ['config', 'check', file],
    ['policy', 'show'],
    ['policy', 'check', file],
  ];
  ask(api.adminToken);
});
afterAll(async () => {
  await world.remove();
  await api.close();
  await redis.stop();
});

/** A project whose agents run in containers of an image. */
const withImage = (image: string) => `
name: boxed
task: Run.
backend: { image: '${image}', runner: { mode: mock } }
agents: { mole: { role: mole, prompt: Dig. } }
`;
const ask = (token: string) => world.setEnvironment({ SUZUMIO_URL: api.url, SUZUMIO_TOKEN: token });
const queueIs = (state: string) =>
  eventually(`the queue is ${state}`, async () => {
    const { json } = await api.get('/health', { token: null });
    return (json as { queue: string }).queue === state;
  });
const found = async (...args: string[]) => {
  const { code, out } = await world.run('doctor', '--json', ...args);
  const findings = JSON.parse(out) as Finding[];
  expect(findings[0]).toMatchObject({ what: 'server', detail: expect.stringContaining(args[1] ?? api.url) });
  return { code, broken: findings.flatMap(({ what, state }) => (state === 'broken' ? [what] : [])) };
};

test('doctor speaks of the server that is set, and says so first', async () => {
  await queueIs('ok');
  const { code, out } = await world.run('doctor');
  expect(out.split('\n')[0]).toBe(`The server at ${api.url}:`);
  expect(out).toMatch(/^ok {7}queue +Redis: 0 waiting/m);
  expect([code, out]).toEqual([0, expect.stringContaining(`All is well with the server at ${api.url}.\n`)]);
  expect(out).not.toMatch(/node|docker|git/i);
});

test('no command names a directory or the policy of this machine, and each takes --url', async () => {
  world.setEnvironment({ SUZUMIO_TOKEN: api.adminToken });
  for (const command of commands) {
    const { code, out, err } = await world.run(...command, '--url', api.url);
    expect([code, command]).toEqual([0, command]);
    expect(`${out}${err}`).not.toContain(world.root);
    expect(`${out}${err}`).not.toMatch(/of-this-machine|policy\.yaml/);
  }
  expect((await world.run('status', '--url', api.url)).out).toBe(`No projects at ${api.url} yet.\n`);
  ask(api.adminToken);
});

test('where a server here is to listen is no matter of a server there', async () => {
  expect(await world.run('doctor', '--port', '8080')).toMatchObject({
    code: 2,
    err: expect.stringContaining(
      `--port say where a server of this machine is to listen, and the server is ${api.url}.`,
    ),
  });
});

test('the policy is that of the server', async () => {
  const { code, out } = await world.run('policy', 'show');
  expect([code, out.split('\n')[0]]).toEqual([0, `# the policy of ${api.url}`]);
  expect(out).toContain('- image-of-the-server:*');
  expect(await world.run('policy', 'check', file)).toEqual({
    code: 0,
    out: `${file} asks for nothing that the policy of ${api.url} does not allow.\n`,
    err: '',
  });
  const here = await world.write('here.yaml', withImage('image-of-this-machine:1'));
  const refused = await world.run('policy', 'check', here);
  expect([refused.code, refused.err.split('\n').slice(0, 2)]).toEqual([
    3,
    [`The server at ${api.url} does not allow it:`, expect.stringContaining('image-of-this-machine:1')],
  ]);
  expect(refused.err).not.toContain('data directory');
});

test('a server that does not answer, and a token that it refuses, are broken', async () => {
  expect(await found('--url', `http://127.0.0.1:${await freePort()}`)).toEqual({ code: 1, broken: ['server'] });
  ask('szm_wrong');
  expect(await found()).toEqual({ code: 1, broken: ['system'] });
  ask(api.adminToken);
});

test('an API that cannot write to its data directory is broken', async () => {
  const held = Sql.open(api.cell.directory.catalogFile);
  held.run('BEGIN IMMEDIATE');
  try {
    await eventually('it is said', async () => (await found()).broken.includes('data'));
  } finally {
    held.close();
  }
  await eventually('it is well again', async () => (await found()).code === 0);
});

describe('while its Redis is away', () => {
  beforeAll(async () => {
    await redis.kill();
    await queueIs('away');
  });

  test('no command says that all is well', async () => {
    for (const command of commands) {
      const { out, err } = await world.run(...command);
      expect(`${out}${err}`).not.toMatch(/all is well/i);
    }
    expect(await found()).toEqual({ code: 1, broken: ['queue'] });
    expect(await world.run('status')).toMatchObject({
      code: 0,
      err: "WARNING: the server's queue does not answer: turns start late, or not.\nnext: suzumio doctor\n",
    });
    expect(await world.run('workers')).toMatchObject({
      code: 4,
      err: expect.stringMatching(/next: suzumio doctor\n$/),
    });
  });

  test('a token of one project is told so, too', async () => {
    await api.create();
    ask(await api.token('read', 'team'));
    expect(await found()).toEqual({ code: 1, broken: ['queue'] });
    ask(api.adminToken);
  });
});

test('a token of one project is not told that all is well', async () => {
  await redis.restart();
  await queueIs('ok');
  ask(await api.token('read', 'team'));
  const { code, out } = await world.run('doctor');
  expect([code, out]).toEqual([
    0,
    expect.stringContaining(`Nothing that this token may see of ${api.url} is broken.\n`),
  ]);
});
