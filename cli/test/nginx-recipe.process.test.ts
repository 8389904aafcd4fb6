import { type ChildProcess, spawn } from 'node:child_process';
import { randomBytes } from 'node:crypto';
import { once } from 'node:events';
import { mkdir, readFile, writeFile } from 'node:fs/promises';
import { type IncomingMessage, request as httpRequest } from 'node:http';
import { join } from 'node:path';
import { json } from 'node:stream/consumers';
import { afterAll, beforeAll, describe, expect, test } from '@jest/globals';
import { accessEnvironment, accessOf } from '@suzumio/api';
import { teamYaml } from '../../test/support/cell.js';
import { freePort } from '../../test/support/free-port.js';
import { eventually } from '../../test/support/poll.js';
import { type TestApi, testApi } from '../../services/api/test/support/api.js';
import { openStream } from '../../services/api/test/support/sse-client.js';
import { type CliWorld, createCliWorld } from './support/cli.js';

const skipped = (process.env['SUZUMIO_TEST_SKIP'] ?? '').split(',').includes('nginx');

(skipped ? describe.skip : describe)('nginx, as docs/deployment.md sets it up', () => {
  let api: TestApi;
  let world: CliWorld;
  let nginx: ChildProcess;
  /** What people see of it. */
  let host: string;
  let url: string;
  beforeAll(async () => {
    const port = await freePort();
    host = `team.example:${port}`;
    url = `http://127.0.0.1:${port}/suzumio`;
    api = await testApi(accessOf(accessEnvironment.parse({ SUZUMIO_PUBLIC_URL: `http://${host}/suzumio` })));
    await api.create();
    world = await createCliWorld();
    world.setEnvironment({ SUZUMIO_URL: url, SUZUMIO_TOKEN: api.adminToken });
    nginx = await startNginx(join(world.directory, 'nginx'), port, api.url);
    await eventually('nginx passes requests on', async () => (await ask('GET', '/health')).status === 200);
  });
  afterAll(async () => {
    if (nginx.exitCode === null) {
      nginx.kill('SIGTERM');
      await once(nginx, 'exit');
    }
    await world.remove();
    await api.close();
  });

  /** Asks as a browser does that shows a page of that host. */
  async function ask(method: string, path: string, body?: unknown) {
    const text = body === undefined ? undefined : JSON.stringify(body);
    const headers = {
      host,
      origin: `http://${host}`,
      authorization: `Bearer ${api.adminToken}`,
      'idempotency-key': randomBytes(8).toString('hex'),
      ...(text === undefined ? {} : { 'content-type': 'application/json', 'content-length': Buffer.byteLength(text) }),
    };
    const request = httpRequest(`${url}${path}`, { method, headers, agent: false }).end(text);
    const answered = await Promise.race([
      once(request, 'response') as Promise<[IncomingMessage]>,
      once(request, 'error').then(() => undefined),
    ]).catch(() => undefined);
    if (answered === undefined) return { status: 0, headers: {}, body: undefined };
    const [response] = answered;
    return {
      status: response.statusCode,
      headers: response.headers,
      body: await json(response).catch(() => undefined),
    };
  }

  test('lets a page that it serves write, at whatever port', async () => {
    const made = await ask('POST', '/api/projects', { file: teamYaml.replace('name: team', 'name: second') });
    expect(made).toMatchObject({ status: 201, headers: { location: '/suzumio/api/projects/second' } });
    expect((await ask('GET', '/api/projects/second')).status).toBe(200);
  });

  test('passes events as they happen', async () => {
    const stream = await openStream(`${url}/api/projects/team/stream?after=0`, {
      host,
      authorization: `Bearer ${api.adminToken}`,
    });
    expect(stream.response.statusCode).toBe(200);
    expect(await stream.next()).toBeDefined();
    const sent = await ask('POST', '/api/projects/team/messages', { recipient: 'ada', body: 'As it happens.' });
    expect(sent.status).toBe(201);
    const types: (string | undefined)[] = [];
    do types.push((await stream.next())?.type);
    while (types.at(-1) !== 'message.created' && types.at(-1) !== undefined);
    expect(types.at(-1)).toBe('message.created');
    stream.cut();
  });

  test('takes files that are larger than it would by itself, and gives them back', async () => {
    const file = await world.write('readings.bin', '0123456789abcdef'.repeat(200_000));
    expect(await world.run('artifacts', 'publish', 'team', file)).toMatchObject({ code: 0, err: '' });
    const copy = join(world.directory, 'copy.bin');
    expect(await world.run('artifacts', 'get', 'team', 'readings.bin', '--output', copy)).toMatchObject({ code: 0 });
    expect((await readFile(copy)).equals(await readFile(file))).toBe(true);
  });
});

/** Starts nginx with the recipe as it stands in the page, but for the address of the API. */
async function startNginx(directory: string, port: number, target: string): Promise<ChildProcess> {
  const page = await readFile(new URL('../../docs/deployment.md', import.meta.url), 'utf8');
  const recipe = /```nginx\n(.*?)```/s.exec(page)?.[1] ?? '';
  expect(recipe).toContain('http://127.0.0.1:39400/;');
  await mkdir(directory);
  const kinds = ['client_body', 'proxy', 'fastcgi', 'uwsgi', 'scgi'];
  const file = join(directory, 'nginx.conf');
  await writeFile(
    file,
    `${process.getuid?.() === 0 ? 'user root;' : ''}
daemon off;
pid ${directory}/nginx.pid;
error_log stderr;
events {}
http {
  access_log off;
  ${kinds.map((kind) => `${kind}_temp_path ${directory}/${kind};`).join('\n  ')}
  server {
    listen 127.0.0.1:${port};
    ${recipe.replace('http://127.0.0.1:39400/;', `${target}/;`)}
  }
}
`,
  );
  return spawn('nginx', ['-p', directory, '-c', file], {
    stdio: ['ignore', 'ignore', 'inherit'],
    env: { PATH: `${process.env['PATH'] ?? ''}:/usr/sbin` },
  });
}
