import { afterAll, beforeAll, describe, expect, test } from '@jest/globals';
import { isOpen, type Operation, scopeOf } from '@suzumio/contract/operations/operation';
import { allOperations } from '@suzumio/contract/operations/operations';
import { Sql } from '@suzumio/store/sqlite/sql';
import { type Answer, type TestApi, testApi } from './support/api.js';
import { refusal } from './support/refusal.js';
import { signIn } from './support/sign-in.js';

/** A page whose scripts may read and write with a token, never with a cookie. */
const friend = 'https://pages.example';
const there = { host: 'team.example:8443', origin: 'https://team.example:8443' };
const form = 'application/x-www-form-urlencoded';
const forms = [form, 'multipart/form-data; boundary=x', 'text/plain', 'text/plain;charset=application/json'];

/** Whatever is not a read may write: what is added to the contract is tried, too. */
const writes = allOperations.filter(({ method }) => method !== 'get');
const closed = writes.filter((operation) => !isOpen(operation));

let api: TestApi;
let neighbour: TestApi;
let cookie: string;
let readers: string;
/** The cookie that another Suzumio set on the same machine; its name holds that one's port. */
let foreign: string;
beforeAll(async () => {
  [api, neighbour] = await Promise.all([
    testApi({ publicUrl: there.origin, allowedHosts: ['team.example'], allowedOrigins: [friend] }),
    testApi(),
  ]);
  await Promise.all([api.create(), neighbour.create()]);
  const cookieOf = async (of: TestApi, token?: string, from?: Record<string, string>) =>
    (await signIn(of, token, from)).headers['cookie'] ?? '';
  cookie = await cookieOf(api, undefined, there);
  readers = await cookieOf(api, await api.token('read'), there);
  foreign = await cookieOf(neighbour);
  await api.post('/api/projects/team/messages', { recipient: 'ada', body: 'Hello.' });
});
afterAll(() => Promise.all([api.close(), neighbour.close()]));

/** Headers. */
type Said = Readonly<Record<string, string | undefined>>;

const subjects: Readonly<Record<string, string>> = { project: 'team', agent: 'ada', message: '1', turn: 'ada:1' };

/** Sends a write as a browser would: with a cookie, without a token. A field that is undefined is not sent. */
function send({ id, method, path, upload }: Operation, said: Said, body?: string): Promise<Answer> {
  const headers: Said = { ...there, 'content-type': upload?.media ?? 'application/json', cookie, ...said };
  const filled = path.replaceAll(/:(\w+)/g, (_whole, part: string) => subjects[part] ?? 'one');
  return api.call(method.toUpperCase(), id === 'uploadArtifact' ? `${filled}?name=levels.csv` : filled, {
    token: null,
    // Enough for the one operation that reads its body before it asks where it comes from.
    body: body ?? (upload ? Buffer.from('a') : { code: 'nothing' }),
    headers: Object.fromEntries(
      Object.entries(headers).flatMap(([name, value]) => (value === undefined ? [] : [[name, value]])),
    ),
  });
}

/** Everything that is kept, but for what is noted of refusals and of this process's life. */
function kept(): unknown {
  const { directory } = api.cell;
  return [directory.catalogFile, directory.projectFile('team')].map((file) => {
    const sql = Sql.open(file, { readonly: true });
    try {
      const tables = sql.all<{ name: string }>(
        `SELECT name FROM sqlite_master WHERE type = 'table' AND name NOT LIKE 'sqlite_%' AND name NOT IN ('audit', 'processes')`,
      );
      return tables.map(({ name }) => [name, sql.all(`SELECT * FROM "${name}"`)]);
    } finally {
      sql.close();
    }
  });
}

/** Sends each of them, and sees them refused, with nothing written and the cookie as it was. */
async function expectRefused(
  operations: readonly Operation[],
  said: Said,
  code: string,
  body?: string,
): Promise<Answer[]> {
  const before = kept();
  const answers = await Promise.all(operations.map((operation) => send(operation, said, body)));
  const seen = answers.map((answer, at) => [operations[at]?.id, refusal(answer).code, answer.headers['set-cookie']]);
  expect(seen).toEqual(operations.map(({ id }) => [id, code, undefined]));
  expect(kept()).toEqual(before);
  return answers;
}

type Forged = [what: string, said: Said];

/** What a page that is not this server's can have a browser send, or a part of it. */
const forged: readonly Forged[] = [
  ['another site', { origin: 'https://evil.example' }],
  ['an opaque origin', { origin: 'null' }],
  ['no origin', { origin: undefined }],
  ['an empty origin', { origin: '' }],
  ['another scheme', { origin: 'http://team.example:8443' }],
  ['another port', { origin: 'https://team.example:9443' }],
  ['the usual port', { origin: 'https://team.example' }],
  ['a name that begins alike', { origin: 'https://team.example:8443.evil.example' }],
  ['the same with a path', { origin: `${there.origin}/` }],
  ['an origin that may use tokens', { origin: friend }],
  ['another site, by the browser', { 'sec-fetch-site': 'cross-site' }],
  ['another port or name, by the browser', { 'sec-fetch-site': 'same-site' }],
  ['no origin, from another site', { origin: undefined, 'sec-fetch-site': 'cross-site' }],
  ['no origin, by an own page', { origin: undefined, 'sec-fetch-site': 'same-origin' }],
  ...forms.map((type): Forged => [`a form, ${type}`, { origin: 'https://evil.example', 'content-type': type }]),
];

test('there are writes', () => {
  expect(writes.length).toBeGreaterThan(40);
});

test.each(forged)('nothing is written for a page of %s', async (_what, said) => {
  await expectRefused(writes, said, 'foreign-origin');
});

test.each(forms)('a form of a page without an origin is not taken: %s', async (type) => {
  await expectRefused(closed, { origin: undefined, 'content-type': type }, 'foreign-origin');
});

test.each(forms)('a form of an own page is not taken either: %s', async (type) => {
  const answers = await expectRefused(writes, { 'content-type': type }, 'invalid-request', '{"a":"b"}');
  for (const answer of answers) expect(refusal(answer).detail).toMatch(/send Content-Type: application\//);
});

describe('a cookie opens nothing', () => {
  const secretOf = (pair: string) => pair.slice(pair.indexOf('=') + 1);
  test.each([
    ['of another server on the same machine', () => foreign],
    ['with the secret of another server', () => `suzumio-session-8443=${secretOf(foreign)}`],
    ['of another port', () => `suzumio-session-443=${secretOf(cookie)}`],
    ['that is empty', () => 'suzumio-session-8443='],
  ])('%s', async (_what, shown) => {
    // Signing in needs no cookie: the code of a link says who it is.
    await expectRefused(closed, { cookie: shown() }, 'unauthenticated');
  });
});

/** What every token may do: see to its own sessions, and mark as read for itself. */
const ofReaders = ['createSignInLink', 'endSession', 'endSessions', 'markRead', 'signOut'];

test('a session that reads may write what is its own', () => {
  const may = closed.filter((operation) => scopeOf(operation) === 'read').map(({ id }) => id);
  expect(may.sort()).toEqual(ofReaders);
});

test('a session that reads writes nothing else', async () => {
  const others = closed.filter(({ id }) => !ofReaders.includes(id));
  await expectRefused(others, { cookie: readers }, 'forbidden');
});

test('a session that reads ends no other, and one that may write does write', async () => {
  const { id } = await signIn(api, api.adminToken, there);
  const path = `/api/sessions/${id}`;
  expect(
    refusal(await api.call('DELETE', path, { token: null, headers: { ...there, cookie: readers } })),
  ).toMatchObject({
    code: 'session-unknown',
  });
  const before = JSON.stringify(kept());
  const mail = { recipient: 'ada', body: 'Hello again.' };
  const sent = await api.post('/api/projects/team/messages', mail, { token: null, headers: { ...there, cookie } });
  expect([sent.status, JSON.stringify(kept()) === before]).toEqual([201, false]);
});
