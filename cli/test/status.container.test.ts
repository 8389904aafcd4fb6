import { writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { afterAll, beforeAll, expect, test } from '@jest/globals';
import { teamYaml } from '../../test/support/cell.js';
import { type ReverseProxy, startReverseProxy } from '../../test/support/reverse-proxy.js';
import { type TestApi, testApi } from '../../services/api/test/support/api.js';
import { anyBackend, type CliWorld, createCliWorld } from './support/cli.js';

const projects = 40;

let api: TestApi;
let proxy: ReverseProxy;
let world: CliWorld;
beforeAll(async () => {
  api = await testApi();
  for (let number = 1; number <= projects; number += 1) {
    const file = teamYaml.replace('name: team', `name: team-${String(number)}`);
    const labels = { half: number % 2 === 0 ? 'even' : 'odd' };
    await api.post('/api/projects', { file, start: number <= 10, labels });
  }
  proxy = await startReverseProxy({ target: api.url });
  world = await createCliWorld({ policy: anyBackend });
});
afterAll(async () => {
  await world.remove();
  await proxy.close();
  await api.close();
});

const status = async (...options: string[]) => {
  world.setEnvironment({ SUZUMIO_TOKEN: api.adminToken });
  const { code, out } = await world.run('status', '--url', proxy.url, ...options);
  expect(code).toBe(0);
  return out.trimEnd().split('\n');
};

test('all projects are told with one question, however many there are', async () => {
  proxy.asked.splice(0);
  expect(await status()).toHaveLength(projects);
  expect(proxy.asked).toEqual(['GET /health', 'GET /api/projects?include=detail']);
});

test('those are told that have a label and a state', async () => {
  expect(await status('--state', 'running')).toHaveLength(10);
  expect(await status('--label', 'half=even')).toHaveLength(projects / 2);
  const both = await status('--label', 'half=even', '--state', 'running,stopped');
  expect(both.map((line) => line.split(' ')[0])).toEqual(['team-2', 'team-4', 'team-6', 'team-8', 'team-10']);
  expect(await status('--state', 'completed')).toEqual(['No project is like that.']);
});

test('the same are told where no server runs', async () => {
  await world.run('init', await world.write('a.yaml', teamYaml.replace('name: team', 'name: here')), '--label', 'a=b');
  await world.run('init', await world.write('b.yaml', teamYaml.replace('name: team', 'name: there')));
  expect((await world.run('status', '--label', 'a=b')).out).toMatch(/^here .*\n$/);
  expect((await world.run('status', '--state', 'running')).out).toBe('No project is like that.\n');
  expect(await world.run('status', 'here', '--state', 'running')).toMatchObject({ code: 2 });
  expect(await world.run('status', '--state', 'asleep')).toMatchObject({ code: 2 });
});

test('a project whose database is damaged is named with what to do, after all others', async () => {
  const own = await createCliWorld({ policy: anyBackend });
  try {
    for (const name of ['well', 'torn']) {
      await own.run('init', await own.write(`${name}.yaml`, teamYaml.replace('name: team', `name: ${name}`)));
    }
    await writeFile(join(own.root, 'projects/torn/project.db'), 'no database '.repeat(100));
    const { code, out, err } = await own.run('status');
    expect([code, out]).toEqual([1, expect.stringMatching(/^well .*\n$/)]);
    expect(err).toMatch(/^torn: store-corrupt: .*restore the project from a backup.*\n$/);
    expect(await own.run('usage')).toMatchObject({ code: 0 });
  } finally {
    await own.remove();
  }
});
