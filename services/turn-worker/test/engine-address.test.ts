import { createHash } from 'node:crypto';
import { mkdirSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { createServer, type Server } from 'node:http';
import { tmpdir } from 'node:os';
import type { AddressInfo } from 'node:net';
import { dirname, join } from 'node:path';
import { afterEach, beforeEach, describe, expect, test } from '@jest/globals';
import { engineAddress, usualSockets } from '../src/engine/docker/engine-address.js';
import { engineClient } from '../src/engine/docker/engine-client.js';

let HOME: string;
beforeEach(() => {
  HOME = mkdtempSync(join(tmpdir(), 'suzumio-home-'));
});
afterEach(() => rmSync(HOME, { recursive: true }));

const put = (path: string, content: unknown): void => {
  mkdirSync(dirname(join(HOME, path)), { recursive: true });
  writeFileSync(join(HOME, path), typeof content === 'string' ? content : JSON.stringify(content));
};
const idOf = (name: string) => createHash('sha256').update(name).digest('hex');
const context = (name: string, docker: object, config = '.docker') =>
  put(`${config}/contexts/meta/${idOf(name)}/meta.json`, { Name: name, Metadata: {}, Endpoints: { docker } });
const socketAt = (path: string, from: string) => ({ kind: 'socket', path, from });

describe('the engine is where Docker’s own command finds it:', () => {
  test('by the default, without anything', () => {
    expect(engineAddress({ HOME })).toMatchObject({ kind: 'socket', from: "Docker's default" });
    put('.docker/config.json', { auths: {} });
    context('colima', { Host: 'unix:///c.sock' });
    expect(engineAddress({ HOME })).toMatchObject({ kind: 'socket', from: "Docker's default" });
  });

  test('by the current context, by DOCKER_CONTEXT, by DOCKER_HOST, by the worker’s own setting, the later the stronger', () => {
    put('.docker/config.json', { currentContext: 'colima' });
    context('colima', { Host: 'unix:///c.sock' });
    context('orbstack', { Host: 'unix:///o.sock' });
    expect(engineAddress({ HOME })).toEqual(socketAt('/c.sock', 'the Docker context colima'));
    const chosen = { HOME, DOCKER_CONTEXT: 'orbstack' };
    expect(engineAddress(chosen)).toEqual(socketAt('/o.sock', 'the Docker context orbstack'));
    expect(engineAddress({ ...chosen, DOCKER_CONTEXT: 'default' })).toMatchObject({ from: "Docker's default" });
    const host = { ...chosen, DOCKER_HOST: 'unix:///h.sock' };
    expect(engineAddress(host)).toEqual(socketAt('/h.sock', 'DOCKER_HOST'));
    expect(engineAddress(host, '/s.sock')).toEqual(socketAt('/s.sock', 'SUZUMIO_DOCKER_SOCKET'));
  });

  test('in DOCKER_CONFIG', () => {
    put('elsewhere/config.json', { currentContext: 'rootless' });
    context('rootless', { Host: 'unix:///run/user/1000/docker.sock' }, 'elsewhere');
    expect(engineAddress({ HOME, DOCKER_CONFIG: join(HOME, 'elsewhere') })).toMatchObject({
      path: '/run/user/1000/docker.sock',
    });
  });

  test.each([
    ['tcp://10.0.0.5', { host: '10.0.0.5', port: 2375 }],
    ['tcp://10.0.0.5:80', { host: '10.0.0.5', port: 80 }],
    ['tcp://docker:2375/', { host: 'docker', port: 2375 }],
    ['tcp://[::1]:4000', { host: '::1', port: 4000 }],
    ['10.0.0.5:4000', { host: '10.0.0.5', port: 4000 }],
    ['http://docker:1', { host: 'docker', port: 1 }],
    ['unix://', { kind: 'socket', path: '/var/run/docker.sock' }],
  ])('at %s', (DOCKER_HOST, expected) => {
    expect(engineAddress({ HOME, DOCKER_HOST })).toMatchObject(expected);
  });

  test('with certificates, of DOCKER_CERT_PATH or of the context', () => {
    for (const name of ['ca', 'cert', 'key']) put(`certs/${name}.pem`, name);
    const tls = { ca: Buffer.from('ca'), cert: Buffer.from('cert'), key: Buffer.from('key'), unverified: false };
    const env = { HOME, DOCKER_HOST: 'tcp://d:9', DOCKER_TLS_VERIFY: '1', DOCKER_CERT_PATH: join(HOME, 'certs') };
    expect(engineAddress(env)).toMatchObject({ host: 'd', port: 9, tls });
    context('far', { Host: 'tcp://far', SkipTLSVerify: true });
    put(`.docker/contexts/tls/${idOf('far')}/docker/ca.pem`, 'ca');
    expect(engineAddress({ HOME, DOCKER_CONTEXT: 'far' })).toEqual({
      kind: 'tcp',
      from: 'the Docker context far',
      host: 'far',
      port: 2376,
      tls: { ca: Buffer.from('ca'), unverified: true },
    });
  });
});

describe('an engine that cannot be used is named with the reason:', () => {
  test.each([
    [{ DOCKER_HOST: 'ssh://me@there' }, /^DOCKER_HOST is ssh:\/\/me@there: engines over SSH are not supported/],
    [{ DOCKER_HOST: 'npipe:////./pipe/docker_engine' }, /^DOCKER_HOST is npipe:.*: expected unix:\/\/\/PATH or tcp:/],
    [{ DOCKER_HOST: 'unix://docker.sock' }, /path is not absolute$/],
    [{ DOCKER_HOST: 'tcp://' }, /expected unix/],
    [{ DOCKER_HOST: 'tcp://a b' }, /expected unix/],
    [
      { DOCKER_HOST: 'tcp://d:2376' },
      /^DOCKER_HOST is tcp:\/\/d:2376: its certificates cannot be read: .*ENOENT.*ca\.pem/,
    ],
    [{ DOCKER_CONTEXT: 'gone' }, /^the Docker context gone is unknown: there is none in .*meta\.json$/],
    [{ DOCKER_CONTEXT: 'kube' }, /^the Docker context kube is without the address of an engine/],
    [{ DOCKER_CONTEXT: 'bad' }, /^DOCKER_CONTEXT cannot be read: .*meta\.json is not JSON/],
    [{ DOCKER_CONTEXT: 'over-ssh' }, /^the Docker context over-ssh is ssh:.*not supported/],
  ])('%j', async (environment, why) => {
    put(`.docker/contexts/meta/${idOf('kube')}/meta.json`, { Name: 'kube', Endpoints: {} });
    put(`.docker/contexts/meta/${idOf('bad')}/meta.json`, '{');
    context('over-ssh', { Host: 'ssh://there' });
    const address = engineAddress({ HOME, ...environment });
    expect(address).toMatchObject({ kind: 'unusable', why: expect.stringMatching(why) });
    const said = address.kind === 'unusable' ? address.why : '';
    await expect(engineClient(address, { timeoutMs: 1_000 }).version()).rejects.toThrow(said);
  });

  test.each(['{', '[', 'null', '{"currentContext": 3}'])('a config.json of %s', (text) => {
    put('.docker/config.json', text);
    const { kind } = engineAddress({ HOME });
    expect(kind).toBe(text.length < 2 ? 'unusable' : 'socket');
  });
});

describe('an engine that answers', () => {
  let engine: Server;
  beforeEach(() => {
    engine = createServer((request, response) => {
      response.writeHead(200, { 'content-type': 'application/json' });
      response.end(request.url?.endsWith('/version') ? '{"Version":"1"}' : '[]');
    });
  });
  afterEach(async () => {
    engine.closeAllConnections();
    await new Promise((resolve) => engine.close(resolve));
  });

  test.each(['127.0.0.1', '::1'])(
    'at a port of %s is asked, whatever DOCKER_HOST of this process says',
    async (host) => {
      await new Promise<void>((resolve) => engine.listen(0, host, resolve));
      const { port } = engine.address() as AddressInfo;
      const before = process.env['DOCKER_HOST'];
      process.env['DOCKER_HOST'] = 'tcp://[nowhere';
      try {
        const at = host.includes(':') ? `[${host}]` : host;
        const address = engineAddress({ HOME, DOCKER_HOST: `tcp://${at}:${String(port)}` });
        expect(await engineClient(address, { timeoutMs: 5_000 }).version()).toEqual({ Version: '1' });
        expect(process.env['DOCKER_HOST']).toBe('tcp://[nowhere');
      } finally {
        delete process.env['DOCKER_HOST'];
        if (before !== undefined) process.env['DOCKER_HOST'] = before;
      }
    },
  );
});

test.each([
  ...['.docker/run', '.docker/desktop', '.colima/default', '.colima/work', '.orbstack/run', '.rd', 'run'].map(
    (directory) => `${directory}/docker.sock`,
  ),
  'run/podman/podman.sock',
])('an engine is usual at %s', (path) => {
  const environment = { HOME, XDG_RUNTIME_DIR: join(HOME, 'run') };
  expect(usualSockets(environment)).not.toContain(join(HOME, path));
  put(path, '');
  expect(usualSockets(environment)).toContain(join(HOME, path));
});
