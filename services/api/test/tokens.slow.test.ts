import { once } from 'node:events';
import { readdir, readFile } from 'node:fs/promises';
import { type IncomingMessage, request as httpRequest } from 'node:http';
import { join } from 'node:path';
import { json } from 'node:stream/consumers';
import { afterEach, beforeEach, describe, expect, jest, test } from '@jest/globals';
import { createdTokenAnswer, tokenListAnswer } from '@suzumio/contract/operations/tokens';
import type { TokenScope } from '@suzumio/contract/model/access-token';
import { createApi } from '@suzumio/api';
import { teamYaml } from '../../../test/support/cell.js';
import { eventually } from '../../../test/support/poll.js';
import { type CallOptions, type TestApi, testApi } from './support/api.js';
import { refusal } from './support/refusal.js';
import { linkFor, signIn } from './support/sign-in.js';
import { openStream } from './support/sse-client.js';

let api: TestApi;
beforeEach(async () => {
  api = await testApi({ events: { pollMs: 100 } });
  await api.create();
});
afterEach(() => api.close());

const make = async (body: Record<string, unknown>, options: CallOptions = {}) =>
  createdTokenAnswer.parse((await api.post('/api/tokens', body, options)).json);
const list = async () => tokenListAnswer.parse((await api.get('/api/tokens')).json).items;
const revoke = (name: string, options?: CallOptions) => api.call('DELETE', `/api/tokens/${name}`, options);
const audit = () => api.cell.catalog.audit.list({ limit: 100 }).items;
const mail = { recipient: 'ada', body: 'Hello.' };

describe('an administrator', () => {
  test('makes tokens whose secret is shown once', async () => {
    const { token, secret } = await make({ name: 'ci', scope: 'write', project: 'team', expires: '30d' });
    expect(token).toMatchObject({ name: 'ci', scope: 'write', project: 'team', state: 'good', createdBy: 'admin' });
    expect(Date.parse(token.expiresAt ?? '')).toBe(Date.parse(token.createdAt) + 30 * 86_400_000);
    expect((await api.post('/api/projects/team/messages', mail, { token: secret })).status).toBe(201);
    expect((await list()).map(({ name }) => name)).toEqual(['admin', 'ci']);
    expect((await api.get('/api/tokens')).text).not.toContain(secret.slice(4));
  });

  test('sees when they were last used, and who is signed in by them', async () => {
    const { secret } = await make({ name: 'ci', scope: 'read' });
    const shown = async () => (await list()).find(({ name }) => name === 'ci');
    expect(await shown()).toMatchObject({ seenAt: null, sessions: 0, links: 0 });
    await signIn(api, secret);
    await linkFor(api, {}, secret);
    await eventually('it is noted', async () => (await shown())?.seenAt !== null);
    expect(await shown()).toMatchObject({ sessions: 1, links: 1 });
    await revoke('ci');
    expect(await shown()).toMatchObject({ sessions: 0, links: 0 });
  });

  test('takes them back at once', async () => {
    const { secret } = await make({ name: 'ci', scope: 'read' });
    expect((await api.get('/api/projects', { token: secret })).status).toBe(200);
    expect((await revoke('ci')).json).toMatchObject({ token: { name: 'ci', state: 'revoked' } });
    expect(refusal(await api.get('/api/projects', { token: secret }))).toMatchObject({ code: 'unauthenticated' });
    expect((await revoke('ci')).status).toBe(200);
  });

  test.each([
    ['a file', 'artifacts?name=late.txt', 'application/octet-stream', 'Some ', 'text.'],
    ['JSON', 'messages', 'application/json', '{"recipient":"ada",', '"body":"Hello."}'],
  ])('takes them back from %s that is still on its way', async (_what, route, type, begins, ends) => {
    const { secret } = await make({ name: 'ci', scope: 'write' });
    const request = httpRequest(`${api.url}/api/projects/team/${route}`, {
      method: 'POST',
      headers: {
        authorization: `Bearer ${secret}`,
        'content-type': type,
        'content-length': begins.length + ends.length,
        expect: '100-continue',
      },
      agent: false,
    });
    const admitted = once(request, 'continue');
    request.write(begins);
    await admitted;
    await revoke('ci');
    const answered = once(request, 'response');
    request.end(ends);
    const [response] = (await answered) as [IncomingMessage];
    expect([response.statusCode, await json(response)]).toMatchObject([401, { code: 'unauthenticated' }]);
    for (const written of ['artifacts', 'messages']) {
      expect((await api.get(`/api/projects/team/${written}`)).json).toEqual({ items: [] });
    }
  });

  test('is told of a name that is taken, and may give it again once its token has ended', async () => {
    const first = await make({ name: 'ci', scope: 'read' });
    const again = await api.post('/api/tokens', { name: 'ci', scope: 'admin' });
    expect(refusal(again)).toMatchObject({ status: 409, code: 'token-exists' });
    await revoke('ci');
    const second = await make({ name: 'ci', scope: 'write' });
    expect((await api.get('/api/projects', { token: first.secret })).status).toBe(401);
    expect((await api.get('/api/projects', { token: second.secret })).status).toBe(200);
  });

  test.each([
    [{ name: 'admin', scope: 'read' }, 'mean somebody else'],
    [{ name: 'Ann', scope: 'read' }, '1 to 63 of a-z'],
    [{ name: 'ci', scope: 'root' }, 'scope'],
    [{ name: 'ci', scope: 'read', expires: 'soon' }, 'such as 30d'],
    [{ name: 'ci', scope: 'read', expires: '2001-01-01T00:00:00Z' }, 'between now and ten years'],
    [{ name: 'ci', scope: 'worker', project: 'team' }, 'every project'],
    [{ name: 'ci', scope: 'handler', project: 'team' }, 'name the project and the agents'],
    [{ name: 'ci', scope: 'handler', project: 'team', agents: ['Ada!'] }, 'agents'],
    [{ name: 'ci', scope: 'write', project: 'team', agents: ['ada'] }, 'leave the agents out'],
    [{ name: 'ci', scope: 'read', secret: 'mine' }, 'unknown field "secret"'],
  ])('is told what is wrong with %j', async (body, detail) => {
    const answer = refusal(await api.post('/api/tokens', body));
    expect([answer.status, answer.code, answer.detail]).toEqual([
      400,
      'invalid-request',
      expect.stringContaining(detail),
    ]);
  });

  test('gets no second secret for the same key', async () => {
    const headers = { 'idempotency-key': 'once' };
    const answer = refusal(await api.post('/api/tokens', { name: 'ci', scope: 'read' }, { headers }));
    expect(answer).toMatchObject({ code: 'invalid-request', detail: expect.stringContaining('Idempotency-Key') });
  });

  test('may revoke every token, also the last one: it stays revoked when the API starts again', async () => {
    expect((await revoke('admin')).status).toBe(200);
    const again = createApi(
      { host: '127.0.0.1', port: 0, transportName: 'test' },
      { cell: api.cell, transport: api.transport, logger: api.logger, metrics: api.metrics },
    );
    await again.start();
    try {
      expect((await api.get('/api/projects')).status).toBe(401);
      expect(api.logLines()).toContainEqual(
        expect.objectContaining({ level: 'warn', msg: expect.stringContaining('"admin" was revoked') }),
      );
    } finally {
      await again.stop();
    }
    // The owner of the data directory is locked out by nobody.
    const { secret } = await api.cell.catalog.tokens.create({ name: 'rescue', scope: 'admin', actor: 'user' });
    expect((await api.get('/api/tokens', { token: secret })).status).toBe(200);
  });
});

/** One route of each kind, with what it is asked with. */
const asked: Readonly<Record<string, (token: string) => Promise<{ status: number }>>> = {
  read: (token) => api.get('/api/projects/team', { token }),
  stream: async (token) => {
    const stream = await openStream(`${api.url}/api/projects/team/stream`, { authorization: `Bearer ${token}` });
    stream.cut();
    return { status: stream.response.statusCode ?? 0 };
  },
  mail: (token) => api.post('/api/projects/team/messages', mail, { token }),
  upload: (token) =>
    api.post('/api/projects/team/artifacts?name=x.txt', Buffer.from('x'), {
      token,
      headers: { 'content-type': 'application/octet-stream' },
    }),
  operate: (token) => api.post('/api/projects/team/pause', {}, { token }),
  budget: (token) => api.post('/api/projects/team/budget', { turns: 5 }, { token }),
  create: (token) => api.post('/api/projects', { file: teamYaml.replace('name: team', 'name: more') }, { token }),
  'list tokens': (token) => api.get('/api/tokens', { token }),
  'make tokens': (token) => api.post('/api/tokens', { name: 'more', scope: 'read' }, { token }),
  'revoke tokens': (token) => revoke('admin', { token }),
  audit: (token) => api.get('/api/audit', { token }),
  delete: (token) => api.call('DELETE', '/api/projects/team', { token }),
};
const everything = Object.keys(asked);
const post = ['read', 'stream', 'mail', 'upload'];
const inProject = [...post, 'operate', 'budget'];

describe('a token of the scope', () => {
  test.each<[TokenScope, string | undefined, string[]]>([
    ['read', undefined, ['read', 'stream']],
    ['mail', undefined, post],
    ['operate', undefined, [...post, 'operate']],
    ['write', undefined, [...inProject, 'create']],
    ['admin', undefined, everything],
    ['handler', 'team', []],
    ['worker', undefined, []],
    ['read', 'team', ['read', 'stream']],
    ['mail', 'team', post],
    ['operate', 'team', [...post, 'operate']],
    ['write', 'team', inProject],
    ['admin', 'team', [...inProject, 'delete']],
    ['admin', 'other', []],
  ])('%s, for the project %s, opens %j, and what it does not open leaves a row', async (scope, project, opened) => {
    await api.create(teamYaml.replace('name: team', 'name: other'));
    const token = await api.token(scope, project);
    const outcomes: Record<string, number> = {};
    for (const [name, ask] of Object.entries(asked)) outcomes[name] = (await ask(token)).status;
    const allowed = everything.filter((name) => (outcomes[name] ?? 0) < 300);
    expect(allowed).toEqual(opened);
    expect(Object.values(outcomes).filter((status) => status === 403)).toHaveLength(everything.length - opened.length);
    expect(audit()).toHaveLength(everything.length - opened.length);
    expect(new Set(audit().map(({ code }) => code)).size).toBeLessThanOrEqual(1);
  });

  test('that is for one project sees only that one in the list', async () => {
    await api.create(teamYaml.replace('name: team', 'name: other'));
    const token = await api.token('read', 'other');
    expect((await api.get('/api/projects', { token })).json).toMatchObject({ items: [{ id: 'other' }] });
  });
});

describe('what a token does', () => {
  test('bears its name, whatever it is', async () => {
    const token = await api.token('write');
    const file = teamYaml.replace('name: team', 'name: mine');
    const path = '/api/projects/mine';
    await api.post('/api/projects', { file, start: true, message: mail }, { token });
    await asked['upload']?.(token);
    for (const [route, body] of [
      ['messages', mail],
      ['stop', {}],
      ['start', {}],
    ] as const) {
      expect((await api.post(`${path}/${route}`, body, { token })).status).toBeLessThan(300);
    }
    await api.post(`${path}/artifacts?name=x.txt`, Buffer.from('x'), {
      token,
      headers: { 'content-type': 'application/octet-stream' },
    });
    const actors = await api.rows<{ type: string; actor: string }>('mine', 'SELECT DISTINCT type, actor FROM events');
    expect(actors.length).toBeGreaterThan(4);
    expect(actors.filter(({ actor }) => actor !== 'write-1')).toEqual([]);
    expect(await api.rows('mine', 'SELECT DISTINCT actor FROM messages')).toEqual([{ actor: 'write-1' }]);
  });
});

describe('what goes on for longer', () => {
  test('a stream ends soon after its token is revoked; the streams of others go on', async () => {
    const [mine, other] = [await api.token('read'), await api.token('read')];
    const open = (token: string) =>
      openStream(`${api.url}/api/projects/team/stream?types=message.created`, { authorization: `Bearer ${token}` });
    const [ending, staying] = [await open(mine), await open(other)];
    const ended = ending.next();
    const looks = jest.spyOn(api.cell.catalog.tokens, 'stillGood');
    await revoke('read-1');
    expect(await ended).toBeUndefined();
    // By the first look that found it revoked.
    expect(looks.mock.results.filter(({ value }) => value === false)).toHaveLength(1);
    const next = staying.next();
    await api.post('/api/projects/team/messages', mail);
    expect(await next).toMatchObject({ type: 'message.created' });
    staying.cut();
  });

  test('a stream ends when its token expires', async () => {
    const { secret } = await make({ name: 'short', scope: 'read', expires: '1h' });
    const stream = await openStream(`${api.url}/api/projects/team/stream?types=turn.failed`, {
      authorization: `Bearer ${secret}`,
    });
    api.setNow(api.cell.context.now() + 3_600_000);
    expect(await stream.next()).toBeUndefined();
    expect(refusal(await api.get('/api/projects', { token: secret })).code).toBe('unauthenticated');
  });

  test('a wait ends soon after its token is revoked', async () => {
    const token = await api.token('read');
    const waiting = api.get('/api/projects/team/wait?status=completed&timeout=60s', { token });
    await revoke('read-1');
    expect(refusal(await waiting)).toMatchObject({ status: 401, code: 'unauthenticated' });
  });
});

describe('the audit', () => {
  test('says who tried what, by the pattern of the route', async () => {
    const token = await api.token('read');
    await api.post('/api/projects/team/agents/ada/retry', {}, { token });
    await api.call('DELETE', '/api/tokens/admin', { token });
    await api.get('/api/audit', { token });
    await api.post('/api/no/such/route', {}, { token });
    const answer = (await api.get('/api/audit?after=0&limit=10')).json;
    expect(answer).toMatchObject({
      items: [
        { token: 'read-1', method: 'POST', route: '/api/projects/:project/agents/:agent/retry', project: 'team' },
        { token: 'read-1', method: 'DELETE', route: '/api/tokens/:token', project: null, code: 'forbidden' },
        { token: 'read-1', method: 'GET', route: '/api/audit' },
        { token: 'read-1', method: 'POST', route: 'none' },
      ],
      next: 4,
    });
  });

  test('has what the policy denied, and nothing of those who are not known', async () => {
    const file = teamYaml.replace('prompt: Write.', 'prompt: Write., workspace: { from: /etc }');
    expect(refusal(await api.post('/api/projects', { file: file.replace('name: team', 'name: x') })).code).toBe(
      'policy-denied',
    );
    await api.get('/api/tokens', { token: null });
    await api.get('/api/tokens', { token: `szm_${'x'.repeat(43)}` });
    expect(audit()).toMatchObject([{ token: 'admin', route: '/api/projects', code: 'policy-denied' }]);
  });
});

test('a method that a path does not take is told which ones it takes', async () => {
  for (const [method, path, allow] of [
    ['PUT', '/api/projects', 'GET, HEAD, POST'],
    ['DELETE', '/api/projects/team/messages', 'GET, HEAD, POST'],
    ['GET', '/api/projects/team/approve', 'POST'],
    ['PATCH', '/api/tokens/ann', 'DELETE'],
    ['POST', '/health', 'GET, HEAD'],
  ] as const) {
    const answer = await api.call(method, path);
    expect({ path, ...refusal(answer), allow: answer.headers.allow }).toMatchObject({
      path,
      status: 405,
      code: 'method-not-allowed',
      allow,
    });
  }
  expect(refusal(await api.call('PUT', '/api/nothing'))).toMatchObject({ status: 404, code: 'not-found' });
});

test('no secret is written anywhere, whatever it is sent as', async () => {
  const { secret } = await make({ name: 'planted', scope: 'admin' });
  const token = secret;
  await api.get('/api/projects', { token });
  await api.get(`/api/tokens/${secret}`, { token });
  await api.call('DELETE', `/api/tokens/${secret}`, { token: await api.token('read') });
  await api.get(`/api/projects/${secret}`, { token });
  await api.post('/api/projects/team/messages', mail, { token, headers: { 'idempotency-key': 'k' } });
  await revoke('planted');
  await api.get('/api/projects', { token });
  await api.get(`/api/projects?token=${secret}`, { token: null });
  const metrics = await api.metrics.registry.metrics();
  const written = [JSON.stringify(api.logLines()), metrics, await contents(api.root)];
  for (const text of written) expect(text.includes(secret.slice(4))).toBe(false);
});

/** Everything in a directory but the files that hold the cell's own secrets. */
async function contents(directory: string): Promise<string> {
  const entries = await readdir(directory, { recursive: true, withFileTypes: true });
  const files = entries.filter((entry) => entry.isFile() && !/\.(token|key)$/.test(entry.name));
  const texts = await Promise.all(files.map(({ parentPath, name }) => readFile(join(parentPath, name), 'latin1')));
  expect(texts.length).toBeGreaterThan(2);
  return texts.join('\n');
}
