import { once } from 'node:events';
import { existsSync, mkdirSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { createServer, type Server } from 'node:https';
import type { AddressInfo } from 'node:net';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, afterEach, beforeAll, beforeEach, expect, test } from '@jest/globals';
import { type ConnectProxy, startConnectProxy, testCertificate } from '../../../../test/support/connect-proxy.js';
import { Repositories } from '../../src/git/repositories.js';
import { TestRepository } from '../support/repository.js';

const bounds = { maxBytes: 64 * 1024 ** 2, maxFileBytes: 16 * 1024 ** 2, maxEntries: 1_000 };
const secret = 'pass-of-the-proxy';
const { key, cert } = testCertificate('git.example');

let base: string;
let commit: string;
let authorities: string;
let server: Server;
let proxy: ConnectProxy;
let clones = 0;

beforeAll(async () => {
  base = mkdtempSync(join(tmpdir(), 'suzumio-proxied-'));
  const origin = new TestRepository(join(base, 'tides'));
  commit = origin.commit({ 'tides.py': 'print(1)\n' });
  origin.git('update-server-info');
  authorities = join(base, 'ca.pem');
  writeFileSync(authorities, cert);
  server = createServer({ key, cert }, (request, response) => {
    const file = join(origin.path, '.git', (request.url ?? '').split('?')[0]?.replace('/tides.git', '') ?? '');
    if (existsSync(file)) response.end(readFileSync(file));
    else response.writeHead(404).end();
  });
  await once(server.listen(0, '127.0.0.1'), 'listening');
  proxy = await startConnectProxy(() => (server.address() as AddressInfo).port);
});
afterAll(async () => {
  await proxy.close();
  server.closeAllConnections();
  server.close();
  rmSync(base, { recursive: true, force: true });
});
beforeEach(() => {
  proxy.refuse = undefined;
  proxy.wants = undefined;
  proxy.asked.length = 0;
});
afterEach(() => rmSync(join(base, 'worker'), { recursive: true, force: true }));

async function clone(environment: Record<string, string>, git = 'https://git.example/tides.git'): Promise<string> {
  const to = join(base, 'worker', `workspace-${++clones}`);
  mkdirSync(to, { recursive: true });
  const repositories = new Repositories({ directory: join(base, 'worker/git'), bounds, cloneMs: 30_000, environment });
  const how = { author: { name: 'Aoi', email: 'aoi@tides.invalid' }, check: () => undefined };
  try {
    const { signal } = new AbortController();
    return (await repositories.clone({ git, branch: 'suzumio/developer' }, to, { ...how, signal })).commit;
  } catch (error) {
    return `${String((error as { code?: string }).code)}: ${(error as Error).message}`;
  }
}

const environment = () => ({
  HTTPS_PROXY: `http://me:${secret}@${proxy.host}`,
  GIT_SSL_CAINFO: authorities,
});

test('a repository is cloned through the proxy, with its credentials', async () => {
  proxy.wants = `Basic ${Buffer.from(`me:${secret}`).toString('base64')}`;
  expect(await clone(environment())).toBe(commit);
  expect(new Set(proxy.asked)).toEqual(new Set(['CONNECT git.example:443']));
  expect(proxy.authorizations.at(-1)).toBe(proxy.wants);
});

test.each([
  [407, 'does not let the worker through to https://git.example/tides.git (407)'],
  [403, 'does not let the worker through to https://git.example/tides.git (403)'],
])('a proxy that answers %i is told, without its credentials', async (status, why) => {
  proxy.refuse = status;
  const told = await clone(environment());
  expect(told).toContain(`repository-unavailable: The proxy at ${proxy.host} (HTTPS_PROXY) ${why}`);
  expect(told).not.toContain(secret);
});

test('a proxy that is not there is told', async () => {
  const told = await clone({ ...environment(), HTTPS_PROXY: 'http://127.0.0.1:9' });
  expect(told).toContain('The proxy at 127.0.0.1:9 (HTTPS_PROXY), through which the worker was to reach');
});

test('a certificate of nobody known is told with what names its authority', async () => {
  const told = await clone({ HTTPS_PROXY: `http://${proxy.host}` });
  expect(told).toContain('is not trusted: GIT_SSL_CAINFO of the worker');
});

test('a repository of this machine, and what NO_PROXY names, is fetched past it', async () => {
  const { port } = server.address() as AddressInfo;
  expect(await clone(environment(), `https://127.0.0.1:${port}/tides.git`)).toContain('127.0.0.1');
  expect(await clone({ ...environment(), NO_PROXY: '.invalid' }, 'https://git.invalid/tides.git')).toContain(
    'git.invalid',
  );
  expect(proxy.asked).toEqual([]);
});
