import { mkdir, mkdtemp, rm, writeFile } from 'node:fs/promises';
import type { AddressInfo } from 'node:net';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { createServer, type Server } from 'node:http';
import { afterAll, beforeAll, describe, expect, test } from '@jest/globals';
import express from 'express';
import { servePage } from '../src/page.js';

const missing =
  '<title>There is no such page</title><a href="./docs">start</a><script src="./assets/docs.js"></script>';

let directory: string;
let server: Server;
let address: string;
beforeAll(async () => {
  directory = await mkdtemp(join(tmpdir(), 'docs-'));
  await mkdir(join(directory, 'docs/api'), { recursive: true });
  await writeFile(join(directory, 'index.html'), '<title>the page</title>');
  await writeFile(join(directory, 'docs.html'), '<title>Start</title>');
  await writeFile(join(directory, 'docs/access.html'), '<title>Access</title>');
  await writeFile(join(directory, 'docs/api.html'), '<title>Operations</title>');
  await writeFile(join(directory, 'docs/api/mail.html'), '<title>Mail</title>');
  await writeFile(join(directory, 'docs/404.html'), missing);
  await writeFile(join(directory, 'docs/search.json'), '{}');
  const app = express();
  app.use(...servePage('https://example.org/team', directory));
  app.use((_request, response) => {
    response.status(404).send('nothing');
  });
  server = createServer(app).listen(0, '127.0.0.1');
  await new Promise((resolve) => server.once('listening', resolve));
  address = `http://127.0.0.1:${(server.address() as AddressInfo).port}`;
});
afterAll(async () => {
  server.close();
  server.closeAllConnections();
  await rm(directory, { recursive: true });
});

const get = (path: string, init: RequestInit = {}) => fetch(`${address}${path}`, { redirect: 'manual', ...init });

test('the page runs its own scripts alone, asks its own server alone, and is in no frame of others', async () => {
  const policy = ((await get('/')).headers.get('content-security-policy') ?? '').split('; ');
  const rules = ["default-src 'none'", "script-src 'self'", "connect-src 'self'", "frame-ancestors 'none'"];
  expect(policy).toEqual(expect.arrayContaining(rules));
  expect(policy).toContain("require-trusted-types-for 'script'");
  expect(policy.filter((rule) => /unsafe|https?:|\*/.test(rule))).toEqual([]);
});

describe('the docs', () => {
  test.each([
    ['/docs', 'Start'],
    ['/docs?from=mail', 'Start'],
    ['/docs/access', 'Access'],
    ['/docs/api', 'Operations'],
    ['/docs/api/mail', 'Mail'],
  ])('%s is read without a session, under the policy of the page', async (path, title) => {
    const answer = await get(path);
    expect([answer.status, await answer.text()]).toEqual([200, `<title>${title}</title>`]);
    const { headers } = answer;
    expect(headers.get('content-type')).toMatch(/^text\/html; charset=utf-8$/i);
    expect(headers.get('content-security-policy')).toBe((await get('/')).headers.get('content-security-policy'));
    expect(headers.get('referrer-policy')).toBe('no-referrer');
  });

  test('are kept by browsers, which ask whether they are the newest', async () => {
    for (const path of ['/docs/access', '/docs/search.json']) {
      const { headers } = await get(path);
      expect(headers.get('cache-control')).toBe('no-cache');
      // As a browser asks that has it; a plain `fetch` with this header would ask to go past all caches.
      const again = await get(path, { cache: 'force-cache', headers: { 'if-none-match': headers.get('etag') ?? '' } });
      expect([path, again.status]).toEqual([path, 304]);
    }
  });

  test('lead to the address without a slash at its end, also below a path of a proxy', async () => {
    for (const [path, to] of [
      ['/docs/', '/docs'],
      ['/docs/access/', '/docs/access'],
    ] as const) {
      const answer = await get(path);
      const location = answer.headers.get('location') ?? '';
      expect([path, answer.status]).toEqual([path, 308]);
      expect(new URL(location, `https://example.org/team${path}`).pathname).toBe(`/team${to}`);
    }
  });

  test('say in place that there is no such page, with links from there', async () => {
    const answer = await get('/docs/api/none/at/all?x=/');
    expect(answer.status).toBe(404);
    expect(answer.headers.get('content-type')).toMatch(/^text\/html/);
    expect(await answer.text()).toContain('href="../../../../docs"');
    expect(await (await get('/docs/none')).text()).toContain('src="../assets/docs.js"');
    // However deep, the answer stays small, and is soon made.
    const deep = await get(`/docs${'/'.repeat(15_000)}a/`);
    expect([deep.status, (await deep.text()).length < 100]).toEqual([404, true]);
    for (const path of [
      '/docs/none.png',
      '/docs/404',
      '/docs/404.html',
      '/docs/api//',
      '/docs/404/x',
      '/docs/..%2findex.html',
      '/docs/%00',
    ]) {
      expect([path, (await get(path)).status]).toEqual([path, 404]);
    }
  });

  test('are no pages for what is not read', async () => {
    expect((await get('/docs', { method: 'HEAD' })).status).toBe(200);
    expect(await (await get('/docs/access', { method: 'POST' })).text()).toBe('nothing');
    expect(await (await get('/docsite')).text()).toBe('nothing');
  });
});
