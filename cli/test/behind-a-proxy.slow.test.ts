import { afterAll, beforeAll, describe, expect, test } from '@jest/globals';
import { accessEnvironment, accessOf } from '@suzumio/api';
import { TeamHandler } from '../../sdk/src/index.js';
import { type CliWorld, createCliWorld, printed } from './support/cli.js';
import { createWorld } from '../../sdk/test/support/world.js';
import { teamYaml } from '../../test/support/cell.js';
import { type ReverseProxy, startReverseProxy } from '../../test/support/reverse-proxy.js';
import { type TestApi, testApi } from '../../services/api/test/support/api.js';
import { openStream } from '../../services/api/test/support/sse-client.js';

const publicUrl = 'https://team.example/suzumio';

let api: TestApi;
let proxy: ReverseProxy;
let world: CliWorld;
beforeAll(async () => {
  api = await testApi(accessOf(accessEnvironment.parse({ SUZUMIO_PUBLIC_URL: `${publicUrl}/` })));
  await api.create();
  proxy = await startReverseProxy({ target: api.url, prefix: '/suzumio', maxBodyBytes: 50_000 });
  world = await createCliWorld();
  world.setEnvironment({ SUZUMIO_URL: proxy.url, SUZUMIO_TOKEN: api.adminToken });
});
afterAll(async () => {
  await world.remove();
  await proxy.close();
  await api.close();
});

describe('below a path of a proxy', () => {
  test('the command reads, writes and follows', async () => {
    expect(await world.run('status', 'team')).toMatchObject({
      code: 0,
      out: expect.stringMatching(/^team {3}running/),
    });
    expect(await world.run('send', 'team', 'ada', 'P1', 'Hello.')).toMatchObject({ code: 0 });
    expect(await world.run('status')).toMatchObject({ code: 0, out: expect.stringMatching(/^team/) });
    const watch = world.begin('watch', 'team');
    await printed(watch, 'Hello.');
    await world.run('send', 'team', 'ben', 'P1', 'And you.');
    await printed(watch, 'And you.');
    await watch.stop();
    const file = await world.write('note.txt', 'A note.');
    expect(await world.run('artifacts', 'publish', 'team', file)).toMatchObject({ code: 0 });
    expect(proxy.asked.filter((line) => !line.includes(' /suzumio/'))).toEqual([]);
  });

  test('an address with a slash at its end is the same', async () => {
    const { code } = await world.run('status', 'team', '--url', `${proxy.url}/`);
    expect(code).toBe(0);
    expect(proxy.asked.at(-1)).toBe('GET /suzumio/api/projects/team');
  });

  test('what was made is where its Location says, and the description names the address', async () => {
    const made = await api.post('/api/projects', { file: teamYaml.replace('name: team', 'name: second') });
    expect(made.headers.location).toBe('/suzumio/api/projects/second');
    const followed = await fetch(new URL(made.headers.location ?? '', proxy.url), {
      headers: { authorization: `Bearer ${api.adminToken}` },
    });
    expect(followed.status).toBe(200);
    expect((await api.get('/openapi.json')).json).toMatchObject({ servers: [{ url: publicUrl }] });
    expect((await api.get('/health', { headers: { host: 'team.example' } })).status).toBe(200);
  });

  test('a stream of events passes', async () => {
    const stream = await openStream(`${proxy.url}/api/projects/team/stream`, {
      authorization: `Bearer ${api.adminToken}`,
    });
    expect(stream.response.statusCode).toBe(200);
    stream.cut();
  });

  test('a handler takes its turns', async () => {
    const desk = await createWorld();
    const before = await startReverseProxy({ target: desk.options.url, prefix: '/toolhost' });
    const handler = new TeamHandler({ ...desk.options, url: `${before.url}/` }).handle(() => 'Done.');
    await desk.mail('ada');
    await desk.until('ada', 'completed');
    await handler.stop();
    await before.close();
    await desk.close();
  });
});

describe('what a proxy itself answers is told as such', () => {
  test('a body that is too large for it', async () => {
    const { code, err } = await world.run('send', 'team', 'ada', 'P1', 'x'.repeat(60_000));
    expect(code).toBe(3);
    expect(err).toContain('answers with status 413, and not as Suzumio does: a proxy before it takes no body as large');
    expect(err).toMatch(/\nnext: let the proxy take larger bodies/);
  });

  test('nothing behind it', async () => {
    const target = proxy.target;
    proxy.target = undefined;
    const { code, err } = await world.run('status', 'team');
    proxy.target = target;
    expect(code).toBe(4);
    expect(err).toContain('answers with status 502, and not as Suzumio does: a proxy before it gets no answer');
  });

  test('an address that lacks the path', async () => {
    const { code, err } = await world.run('status', 'team', '--url', proxy.url.replace('/suzumio', ''));
    expect(code).toBe(1);
    expect(err).toContain('answers with status 404, and not as Suzumio does; is it a Suzumio server, and the whole');
  });
});

test.each(['ftp://team.example', 'team.example/suzumio', 'https://team.example/?a=b'])(
  '%s is no public address',
  (url) => {
    expect(accessEnvironment.safeParse({ SUZUMIO_PUBLIC_URL: url }).success).toBe(false);
  },
);
