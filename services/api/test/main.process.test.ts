import { type ChildProcess, spawn } from 'node:child_process';
import { once } from 'node:events';
import { existsSync } from 'node:fs';
import { mkdtemp, readFile, rm, writeFile } from 'node:fs/promises';
import { type IncomingMessage, request as httpRequest } from 'node:http';
import { connect } from 'node:net';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { text } from 'node:stream/consumers';
import { fileURLToPath } from 'node:url';
import { afterEach, beforeEach, describe, expect, test } from '@jest/globals';
import { teamYaml } from '../../../test/support/cell.js';
import { eventually } from '../../../test/support/poll.js';
import { freePort } from '../../../test/support/free-port.js';
import { openStream } from './support/sse-client.js';

const program = fileURLToPath(new URL('../../../.cache/services/api/dist/main.js', import.meta.url));
let root: string;
let port: number;
let healthPort: number;
let children: ChildProcess[];
beforeEach(async () => {
  root = await mkdtemp(join(tmpdir(), 'suzumio-api-'));
  [port, healthPort] = [await freePort(), await freePort()];
  children = [];
});
afterEach(async () => {
  for (const child of children) {
    if (child.exitCode !== null || child.signalCode !== null) continue;
    const exited = once(child, 'exit');
    child.kill('SIGKILL');
    await exited;
  }
  await rm(root, { recursive: true, force: true });
});

function launch(environment: Record<string, string> = {}) {
  const child = spawn(process.execPath, [program], {
    env: {
      SUZUMIO_ROOT: root,
      SUZUMIO_PORT: String(port),
      SUZUMIO_HEALTH_PORT: String(healthPort),
      // Nobody listens there.
      SUZUMIO_REDIS_URL: 'redis://127.0.0.1:1',
      SUZUMIO_CELL: 'api-test',
      ...environment,
    },
    stdio: ['ignore', 'pipe', 'inherit'],
  });
  children.push(child);
  const exited = once(child, 'exit') as Promise<[number | null, string | null]>;
  return { child, exited, log: text(child.stdout) };
}

async function ready(launched: ReturnType<typeof launch>) {
  await eventually('the API is ready', async () => (await ask(`http://127.0.0.1:${healthPort}/readyz`))?.ok ?? false);
  return launched;
}

async function serving() {
  const launched = await ready(launch());
  return { ...launched, token: (await readFile(join(root, 'admin.token'), 'utf8')).trim() };
}

const ask = (url: string) => fetch(url).catch(() => undefined);
const call = (token: string, path: string, body?: unknown) =>
  fetch(`http://127.0.0.1:${port}${path}`, {
    method: body === undefined ? 'GET' : 'POST',
    headers: { authorization: `Bearer ${token}`, 'content-type': 'application/json' },
    ...(body === undefined ? {} : { body: JSON.stringify(body) }),
  });

describe('the API as a process', () => {
  test('serves without Redis and says so; ends in good order with streams open', async () => {
    const { child, exited, log, token } = await serving();
    expect(await (await fetch(`http://127.0.0.1:${healthPort}/readyz`)).json()).toEqual({
      status: 'degraded',
      degraded: ['redis'],
    });
    expect((await call(token, '/api/projects', { file: teamYaml, start: true })).status).toBe(201);
    const message = { recipient: 'ada', body: 'Hello.' };
    expect((await call(token, '/api/projects/team/messages', message)).status).toBe(201);

    const stream = await openStream(`http://127.0.0.1:${port}/api/projects/team/stream`, {
      authorization: `Bearer ${token}`,
    });
    expect((await stream.next())?.id).toBe('1-1');
    child.kill('SIGTERM');
    expect(await exited).toEqual([0, null]);
    stream.cut();
    expect(await log).not.toContain(token);
  });

  test('answers who asks for a stream while it ends, and tells of no error', async () => {
    const { child, exited, log, token } = await serving();
    expect((await call(token, '/api/projects', { file: teamYaml, start: true })).status).toBe(201);
    const path = '/api/projects/team/stream';
    const open = await openStream(`http://127.0.0.1:${port}${path}`, { authorization: `Bearer ${token}` });
    expect((await open.next())?.id).toBe('1-1');
    const socket = connect(port, '127.0.0.1');
    socket.write(`GET ${path} HTTP/1.1\r\nHost: 127.0.0.1\r\nAuthorization: Bearer ${token}\r\n`);
    // What is answered on another connection was read after that.
    expect((await call(token, '/api/projects/team')).status).toBe(200);
    child.kill('SIGTERM');
    while ((await open.next()) !== undefined);
    socket.write('\r\n');
    expect(await text(socket)).toMatch(/^HTTP\/1\.1 503 [^]*"code":"server-unreachable"/);
    expect(await exited).toEqual([0, null]);
    const lines = (await log).trim().split('\n');
    expect(lines.filter((line) => /"level":"(error|fatal)"/.test(line))).toEqual([]);
  });

  test('goes on after a SIGKILL with what it had answered', async () => {
    const { child, exited, token } = await serving();
    await call(token, '/api/projects', { file: teamYaml, start: true });
    const key = { recipient: 'ada', body: 'Kept.' };
    expect((await call(token, '/api/projects/team/messages', key)).status).toBe(201);
    child.kill('SIGKILL');
    await exited;
    const again = await serving();
    expect(again.token).toBe(token);
    expect(await (await call(token, '/api/projects/team/messages')).json()).toMatchObject({
      items: [{ body: 'Kept.' }],
    });
  });

  test('refuses a directory that another cell is using', async () => {
    await serving();
    const other = launch({ SUZUMIO_CELL: 'other', SUZUMIO_PORT: '0', SUZUMIO_HEALTH_PORT: '' });
    expect(await other.exited).toEqual([1, null]);
    expect(await other.log).toContain('data-dir-in-use');
  });

  test('says once that its port is taken, and what to do', async () => {
    const { child, exited } = await serving();
    const second = launch({ SUZUMIO_HEALTH_PORT: '' });
    expect(await second.exited).toEqual([1, null]);
    const log = await second.log;
    expect(log.match(/EADDRINUSE/g)).toHaveLength(1);
    expect(
      JSON.parse(
        log
          .trim()
          .split('\n')
          .find((line) => line.includes('EADDRINUSE')) ?? '',
      ),
    ).toMatchObject({
      level: 'fatal',
      code: 'settings-invalid',
      msg: `Cannot listen on 127.0.0.1:${String(port)}: the address is in use (EADDRINUSE).`,
      next: 'stop what listens there, or choose another port',
    });
    child.kill('SIGTERM');
    await exited;
  });

  test('names every setting that is wrong', async () => {
    const wrong = launch({ SUZUMIO_ROOT: '', SUZUMIO_PORT: '70000' });
    expect(await wrong.exited).toEqual([2, null]);
    expect(await wrong.log).toMatch(/SUZUMIO_ROOT: .*SUZUMIO_PORT: /);
  });

  test('takes the administrator’s secret from its environment, and writes it nowhere', async () => {
    const secret = 'a-secret-that-its-operator-made-up';
    await writeFile(join(root, 'secret'), `${secret}\n`);
    const { child, exited, log } = await ready(launch({ SUZUMIO_ADMIN_TOKEN_FILE: join(root, 'secret') }));
    expect((await call(secret, '/api/tokens')).status).toBe(200);
    expect(existsSync(join(root, 'admin.token'))).toBe(false);
    child.kill('SIGTERM');
    await exited;
    expect(await log).not.toContain(secret);
    expect((await readFile(join(root, 'catalog.db'), 'latin1')).includes(secret)).toBe(false);
  });

  test.each([
    [{ SUZUMIO_ADMIN_TOKEN: 'hunter2' }, 'SUZUMIO_ADMIN_TOKEN needs 32 to 500'],
    [{ SUZUMIO_AUTH: 'off', SUZUMIO_HOST: '0.0.0.0' }, 'listens on loopback only, not on 0.0.0.0'],
  ])('does not start with %j', async (environment, message) => {
    const refused = launch(environment);
    expect(await refused.exited).toEqual([1, null]);
    const log = await refused.log;
    expect(log).toContain('settings-invalid');
    expect(log).toContain(message);
    expect(log).not.toContain('hunter2');
  });

  test('lets everybody on this machine in where it is told to', async () => {
    const { child, exited } = await ready(launch({ SUZUMIO_AUTH: 'off' }));
    expect((await fetch(`http://127.0.0.1:${port}/api/projects`)).status).toBe(200);
    child.kill('SIGTERM');
    await exited;
  });

  test('answers on every listener to the names that it is given, and to no others', async () => {
    const { child, exited } = await ready(launch({ SUZUMIO_ALLOWED_HOSTS: 'api, suzumio.example' }));
    for (const [listener, path] of [
      [port, '/health'],
      [healthPort, '/metrics'],
    ] as const) {
      for (const [host, status] of [
        ['api', 200],
        ['suzumio.example', 200],
        ['evil.example', 403],
      ] as const) {
        const request = httpRequest({ port: listener, path, headers: { host }, agent: false });
        const [response] = (await once(request.end(), 'response')) as [IncomingMessage];
        response.resume();
        expect({ path, host, status: response.statusCode }).toEqual({ path, host, status });
      }
    }
    child.kill('SIGTERM');
    await exited;
  });
});
