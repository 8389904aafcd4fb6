import { once } from 'node:events';
import { mkdir, writeFile } from 'node:fs/promises';
import { createServer, type Server } from 'node:http';
import type { AddressInfo } from 'node:net';
import { join } from 'node:path';
import { afterEach, beforeEach, expect, test } from '@jest/globals';
import { type CliWorld, createCliWorld } from './support/cli.js';

const elsewhere = { SUZUMIO_URL: 'http://127.0.0.1:1', SUZUMIO_TOKEN: 'of-elsewhere' };

let world: CliWorld;
/** A server that only notes what it is shown. */
let server: Server;
let url: string;
let shown: Set<string>;
beforeEach(async () => {
  world = await createCliWorld();
  shown = new Set();
  server = createServer(({ headers }, response) => {
    if (headers.authorization !== undefined) shown.add(headers.authorization);
    response.writeHead(200, { 'content-type': 'application/json' }).end('{}');
  });
  await once(server.listen(0, '127.0.0.1'), 'listening');
  url = `http://127.0.0.1:${(server.address() as AddressInfo).port}`;
  await mkdir(world.root);
  await writeFile(join(world.root, 'admin.token'), 'of-this-directory\n');
});
afterEach(async () => {
  server.close();
  await world.remove();
});

/** The server of the data directory, as it says itself. */
const serveHere = () => writeFile(join(world.root, 'server.json'), JSON.stringify({ url, pid: process.pid }));

test('a token of SUZUMIO_URL is not shown to the server of a directory that --root names', async () => {
  await serveHere();
  world.setEnvironment(elsewhere);
  await world.run('--root', world.root, 'status');
  expect([...shown]).toEqual(['Bearer of-this-directory']);
});

test('a token of SUZUMIO_URL is not shown to another server that --url names', async () => {
  world.setEnvironment(elsewhere);
  const { code, err } = await world.run('--url', url, 'status');
  expect([code, err, shown.size]).toEqual([3, expect.stringContaining('SUZUMIO_TOKEN is for http://127.0.0.1:1'), 0]);
});

test('the token of a data directory is shown to no server elsewhere', async () => {
  const { code, err } = await world.run('--url', url, 'status');
  expect([code, err, shown.size]).toEqual([3, expect.stringContaining('SUZUMIO_TOKEN is not set'), 0]);
  world.setEnvironment({ SUZUMIO_URL: url });
  expect(await world.run('status')).toMatchObject({ code: 3 });
  expect(shown.size).toBe(0);
});

test.each([
  ['a server that is named, with SUZUMIO_TOKEN', () => ['--url', url], () => ({ SUZUMIO_TOKEN: 'given' }), 'given'],
  [
    'another path of SUZUMIO_URL',
    () => ['--url', `${url}/b`],
    () => ({ SUZUMIO_URL: url, SUZUMIO_TOKEN: 'given' }),
    'given',
  ],
  ['the server of the data directory, by its address', () => ['--url', url], () => ({}), 'of-this-directory'],
  [
    'a server that is named with its data directory',
    () => ['--root', world.root, '--url', `${url}/b`],
    () => ({}),
    'of-this-directory',
  ],
  ['the server of the data directory, with SUZUMIO_TOKEN', () => [], () => ({ SUZUMIO_TOKEN: 'given' }), 'given'],
])('%s is shown its own', async (_whom, options, environment, token) => {
  await serveHere();
  world.setEnvironment(environment());
  await world.run(...options(), 'status');
  expect([...shown]).toEqual([`Bearer ${token}`]);
});
