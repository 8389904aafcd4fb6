import { afterAll, beforeAll, describe, expect, test } from '@jest/globals';
import { type Answer, type TestApi, testApi } from './support/api.js';
import { noon } from '../../../test/support/cell.js';
import { linkFor, signIn, type SignInLink } from './support/sign-in.js';
import { refusal } from './support/refusal.js';
import { openStream } from './support/sse-client.js';

const publicUrl = 'https://team.example/suzumio';
const messages = '/api/projects/team/messages';
const mail = { recipient: 'ada', body: 'Hello.' };

let api: TestApi;
beforeAll(async () => {
  api = await testApi({ publicUrl, allowedHosts: ['team.example', 'other.example'] });
  await api.create();
  api.setNow(now);
});
afterAll(() => api.close());

let now = noon;
const advance = (ms: number) => api.setNow((now += ms));

const there = { host: 'team.example', origin: 'https://team.example' };
const cookieOf = ({ headers }: Answer) => headers['set-cookie']?.[0] ?? '';
const codeOf = ({ url }: SignInLink) => url.split('#')[1] ?? '';

async function exchange(code: string, headers: Record<string, string> = there): Promise<Answer> {
  return api.post('/api/session', { code }, { token: null, headers });
}

describe('a link', () => {
  test('leads to the public address, and to a page there', async () => {
    expect((await linkFor(api)).url).toMatch(/^https:\/\/team\.example\/suzumio\/sign-in#szm_[\w-]{43}$/);
    expect((await linkFor(api, { path: '/p/team?tab=mail' })).url).toMatch(
      /^https:\/\/team\.example\/suzumio\/sign-in\?to=%2Fp%2Fteam%3Ftab%3Dmail#szm_/,
    );
  });

  test.each(['//evil.example', '/\\evil.example', 'https://evil.example', '/a b', 'p'])(
    'leads nowhere else: %s',
    async (path) => {
      expect(refusal(await api.post('/api/sign-in-links', { path }))).toMatchObject({ code: 'invalid-request' });
    },
  );

  test('opens once', async () => {
    const code = codeOf(await linkFor(api));
    expect((await exchange(code)).status).toBe(201);
    expect(refusal(await exchange(code))).toMatchObject({ status: 410, code: 'sign-in-link-ended' });
  });

  test('that was never made opens nothing', async () => {
    const code = codeOf(await linkFor(api));
    const forged = `${code.startsWith('A') ? 'B' : 'A'}${code.slice(1)}`;
    expect(refusal(await exchange(forged))).toMatchObject({ status: 410, code: 'sign-in-link-ended' });
    expect((await exchange(code)).status).toBe(201);
  });

  test('of two browsers at once signs one in', async () => {
    const code = codeOf(await linkFor(api));
    const answers = await Promise.all([exchange(code), exchange(code), exchange(code)]);
    expect(answers.map(({ status }) => status).sort()).toEqual([201, 410, 410]);
  });

  test('ends after ten minutes', async () => {
    const code = codeOf(await linkFor(api));
    advance(10 * 60_000);
    expect(refusal(await exchange(code))).toMatchObject({ code: 'sign-in-link-ended' });
  });

  test('ends with its token', async () => {
    const { secret } = await api.cell.catalog.tokens.create({ name: 'brief', scope: 'read', actor: 'test' });
    const code = codeOf(await linkFor(api, {}, secret));
    await api.cell.catalog.tokens.revoke('brief');
    expect(refusal(await exchange(code))).toMatchObject({ code: 'sign-in-link-ended' });
  });

  test('gives way to newer ones when a token has twenty', async () => {
    const links: SignInLink[] = [];
    const token = await api.token('read');
    for (let made = 0; made < 21; made += 1) {
      links.push(await linkFor(api, {}, token));
      advance(1);
    }
    const [first, second] = await Promise.all(links.slice(0, 2).map((link) => exchange(codeOf(link))));
    expect([first?.status, second?.status]).toEqual([410, 201]);
  });

  test('of a worker there is none', async () => {
    const { secret } = await api.cell.catalog.tokens.create({ name: 'east', scope: 'worker', actor: 'test' });
    expect(refusal(await api.post('/api/sign-in-links', {}, { token: secret }))).toMatchObject({ code: 'forbidden' });
  });

  test('for another token is made by administrators, who are named for it', async () => {
    await api.cell.catalog.tokens.create({ name: 'yuki', scope: 'mail', project: 'team', actor: 'test' });
    const { headers } = await exchange(codeOf(await linkFor(api, { token: 'yuki' })));
    const cookie = { ...there, cookie: headers['set-cookie']?.[0]?.split(';')[0] ?? '' };
    expect((await api.get('/api/session', { token: null, headers: cookie })).json).toMatchObject({
      name: 'yuki',
      scope: 'mail',
      project: 'team',
    });
    const { items } = (await api.get('/api/acts?actor=admin')).json as { items: unknown[] };
    expect(items).toContainEqual(
      expect.objectContaining({ type: 'token.link-made', subject: 'yuki', actor: 'admin', project: null }),
    );
  });

  test('for another token is for nobody else, and for none that opens nothing here', async () => {
    await api.cell.catalog.tokens.create({ name: 'mio', scope: 'read', actor: 'test' });
    await api.cell.catalog.tokens.create({ name: 'west', scope: 'worker', actor: 'test' });
    const ask = async (body: object, token?: string) =>
      refusal(await api.post('/api/sign-in-links', body, token === undefined ? {} : { token }));
    expect(await ask({ token: 'mio' }, await api.token('write'))).toMatchObject({ code: 'forbidden' });
    expect(await ask({ token: 'mio' }, await api.token('admin', 'team'))).toMatchObject({ code: 'forbidden' });
    expect(await ask({ token: 'west' })).toMatchObject({ code: 'invalid-request' });
    expect(await ask({ token: 'nobody' })).toMatchObject({ code: 'token-unknown' });
  });

  test('is no secret of the log', async () => {
    const code = codeOf(await linkFor(api));
    await exchange(code);
    await exchange(code);
    expect(JSON.stringify(api.logLines())).not.toContain(code);
  });
});

describe('the cookie', () => {
  test('is for this path and this site alone, out of reach of scripts', async () => {
    const cookie = cookieOf(await exchange(codeOf(await linkFor(api))));
    expect(cookie).toMatch(
      /^suzumio-session-443=szm_[\w-]{43}; Path=\/suzumio; Expires=.*; HttpOnly; Secure; SameSite=Strict$/,
    );
  });

  test('on the same machine is named for the port, and needs no TLS', async () => {
    const own = await testApi();
    const { headers } = await signIn(own);
    expect(headers.cookie).toMatch(new RegExp(`^suzumio-session-${new URL(own.url).port}=szm_`));
    expect((await own.get('/api/session', { token: null, headers })).json).toMatchObject({ name: 'admin' });
    // Another server on this machine: the browser sends it the cookie as well.
    expect((await api.get('/api/session', { token: null, headers: { ...headers, ...there } })).status).toBe(401);
    await own.close();
  });

  test('is not to be had where it could be read on its way', async () => {
    const code = codeOf(await linkFor(api));
    const elsewhere = { host: 'other.example', origin: 'http://other.example' };
    expect(refusal(await exchange(code, elsewhere))).toMatchObject({ status: 403, code: 'sign-in-insecure' });
    const plain = await testApi({ publicUrl: 'http://team.example' });
    expect(refusal(await plain.post('/api/sign-in-links', {}))).toMatchObject({ code: 'sign-in-insecure' });
    await plain.close();
    // It was not used up.
    expect((await exchange(code)).status).toBe(201);
  });

  test.each([
    ['of another origin', { ...there, origin: 'https://evil.example' }],
    ['of another scheme', { ...there, origin: 'http://team.example' }],
    ['of another port', { ...there, origin: 'https://team.example:8443' }],
    ['without an origin', { host: 'team.example' }],
    ['of an opaque origin', { ...there, origin: 'null' }],
  ])('is not given to a page %s', async (_what, headers) => {
    const code = codeOf(await linkFor(api));
    expect(refusal(await exchange(code, headers))).toMatchObject({ status: 403, code: 'foreign-origin' });
    expect((await exchange(code)).status).toBe(201);
  });
});

describe('a session', () => {
  test('is what its token is', async () => {
    const token = await api.token('mail', 'team');
    const { headers } = await signIn(api, token, there);
    const options = { token: null, headers };
    expect((await api.get('/api/session', options)).json).toMatchObject({
      scope: 'mail',
      project: 'team',
      access: 'tokens',
      session: { current: true, address: expect.stringContaining('127.0.0.1') },
    });
    expect((await api.post(messages, mail, options)).status).toBe(201);
    expect(refusal(await api.post('/api/projects/team/stop', {}, options))).toMatchObject({ code: 'forbidden' });
    expect(refusal(await api.get('/api/projects/other', options))).toMatchObject({ code: 'forbidden' });
  });

  test.each([
    ['no origin', { origin: undefined }],
    ['another origin', { origin: 'https://evil.example' }],
    ['another port', { origin: 'https://team.example:444' }],
    ['another scheme', { origin: 'http://team.example' }],
    ['an opaque origin', { origin: 'null' }],
  ])('writes nothing for a page of %s', async (_what, { origin }) => {
    const { headers } = await signIn(api, api.adminToken, there);
    const { cookie = '', host = '' } = headers;
    const forged = { cookie, host, ...(origin === undefined ? {} : { origin }) };
    expect(refusal(await api.post(messages, mail, { token: null, headers: forged }))).toMatchObject({
      status: 403,
      code: 'foreign-origin',
    });
  });

  test('reads nothing for a page of another origin', async () => {
    const { headers } = await signIn(api, api.adminToken, there);
    const { cookie = '', host = '' } = headers;
    for (const said of [{ origin: 'https://evil.example' }, { 'sec-fetch-site': 'same-site' }]) {
      const answer = await api.get('/api/projects', { token: null, headers: { cookie, host, ...said } });
      expect(refusal(answer)).toMatchObject({ status: 403, code: 'foreign-origin' });
    }
    expect((await api.get('/api/projects', { token: null, headers: { cookie, host } })).status).toBe(200);
  });

  test('lasts for thirty days', async () => {
    const { headers } = await signIn(api, api.adminToken, there);
    advance(30 * 86_400_000 - 1);
    expect((await api.get('/api/session', { token: null, headers })).status).toBe(200);
    advance(1);
    expect((await api.get('/api/session', { token: null, headers })).status).toBe(401);
  });

  test('ends when it is signed out, with its streams, and the browser forgets it', async () => {
    const { headers } = await signIn(api, api.adminToken, there);
    const stream = await openStream(`${api.url}/api/projects/team/stream`, headers);
    const out = await api.call('DELETE', '/api/session', { token: null, headers });
    expect([out.status, cookieOf(out)]).toEqual([
      200,
      expect.stringMatching(/^suzumio-session-443=; .*Expires=Thu, 01 Jan 1970/),
    ]);
    expect((await api.get('/api/session', { token: null, headers })).status).toBe(401);
    while (await stream.next());
  });

  test('ends with its token', async () => {
    const token = await api.token('read');
    const { headers } = await signIn(api, token, there);
    const { name } = (await api.get('/api/session', { token: null, headers })).json as { name: string };
    await api.cell.catalog.tokens.revoke(name);
    expect((await api.get('/api/session', { token: null, headers })).status).toBe(401);
  });

  test('is ended by its holder and by administrators, and seen by no others', async () => {
    const [mine, others] = [await api.token('read'), await api.token('admin', 'team')];
    const own = await signIn(api, mine, there);
    const ids = async (token: string) =>
      ((await api.get('/api/sessions', { token })).json as { items: { id: string }[] }).items.map(({ id }) => id);
    expect([await ids(mine), await ids(others)]).toEqual([[own.id], []]);
    expect(await ids(api.adminToken)).toContain(own.id);
    expect(refusal(await api.call('DELETE', `/api/sessions/${own.id}`, { token: others }))).toMatchObject({
      code: 'session-unknown',
    });
    expect((await api.call('DELETE', `/api/sessions/${own.id}`, { token: mine })).status).toBe(200);
    expect(await ids(mine)).toEqual([]);
  });

  test('ends with all others of its token, and the links that would open more', async () => {
    const { secret } = await api.cell.catalog.tokens.create({ name: 'ren', scope: 'read', actor: 'test' });
    const [here, elsewhere] = [await signIn(api, secret, there), await signIn(api, secret, there)];
    const code = codeOf(await linkFor(api, {}, secret));
    const status = async ({ headers }: typeof here) => (await api.get('/api/session', { token: null, headers })).status;
    const out = (query: string, options: object) => api.call('DELETE', `/api/sessions?${query}`, options);
    const asHere = { token: null, headers: here.headers };
    expect(refusal(await out('token=ren', { token: await api.token('write') }))).toMatchObject({ code: 'forbidden' });
    const others = await out('token=ren&others=true', asHere);
    expect(others.json).toMatchObject({ items: [{ id: elsewhere.id, token: 'ren', current: false }] });
    expect([await status(here), await status(elsewhere), (await exchange(code)).status]).toEqual([200, 401, 410]);
    const all = await out('token=ren', asHere);
    expect([all.json, cookieOf(all)]).toEqual([
      { items: [expect.objectContaining({ id: here.id, current: true })] },
      expect.stringContaining('Expires=Thu, 01 Jan 1970'),
    ]);
    expect(await status(here)).toBe(401);
    // The token itself is good, and an administrator signs its browsers out as well.
    await signIn(api, secret, there);
    expect((await out('token=ren', {})).json).toMatchObject({ items: [{ token: 'ren' }] });
  });

  test('that has ended says why', async () => {
    const { tokens } = api.cell.catalog;
    const { secret } = await tokens.create({ name: 'haru', scope: 'read', expires: '1h', actor: 'test' });
    const { headers } = await signIn(api, secret, there);
    const why = async () => refusal(await api.get('/api/session', { token: null, headers })).detail;
    advance(3_600_000);
    expect(await why()).toBe('The token "haru" has expired, and the session ended with it.');
    await tokens.revoke('haru');
    expect(await why()).toBe('The token "haru" was revoked, and the session ended with it.');
    const other = await signIn(api, api.adminToken, there);
    await api.call('DELETE', `/api/sessions/${other.id}`);
    const ended = await api.get('/api/session', { token: null, headers: other.headers });
    expect(refusal(ended).detail).toMatch(/^The session has ended: somebody signed it out/);
  });

  test('says when it was last used, to within five minutes', async () => {
    const { headers, id } = await signIn(api, api.adminToken, there);
    const seen = async () => {
      await api.get('/api/session', { token: null, headers });
      const { items } = (await api.get('/api/sessions')).json as { items: { id: string; seenAt: string }[] };
      return Date.parse(items.find((item) => item.id === id)?.seenAt ?? '');
    };
    const first = await seen();
    advance(5 * 60_000);
    expect(await seen()).toBe(first);
    advance(1);
    expect(await seen()).toBe(first + 5 * 60_000 + 1);
  });
});

test('without tokens everybody is signed in, and a link is an address', async () => {
  const open = await testApi({ auth: 'off' });
  expect((await open.get('/api/session', { token: null })).json).toMatchObject({ name: 'anonymous', access: 'open' });
  expect((await open.post('/api/sign-in-links', { path: '/p/team' }, { token: null })).json).toEqual({
    url: `${open.url}/p/team`,
    expiresAt: null,
  });
  await open.close();
});
