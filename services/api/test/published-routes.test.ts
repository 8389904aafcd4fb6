import { afterAll, beforeAll, describe, expect, test } from '@jest/globals';
import { allOperations } from '@suzumio/contract/operations/operations';
import { publishedRoutes } from '@suzumio/contract/operations/published-routes';
import { publishedTable } from '../../../test/support/published-table.js';
import { type TestApi, testApi } from './support/api.js';
import { playTurn, submit } from './support/play.js';
import { refusal } from './support/refusal.js';

const rows = publishedTable('HTTP');
const examples = rows.map(([route = '', meaning = '', , example = '']) => {
  const [, method = '', path = '', body] = /^`(GET|POST) (\S+)(?: (\{.*\}))?`$/.exec(example) ?? [];
  return { route: route.slice(1, -1), meaning, example, method, path, body };
});
const paths = new Set(allOperations.map(({ method, path }) => `${method} ${path}`));

const bulletin = `
name: bulletin
task: Write a bulletin.
backend: { runner: { mode: mock } }
agents:
  editor: { role: editor, prompt: Write., tools: ['*'] }
`;

let api: TestApi;
beforeAll(async () => {
  api = await testApi();
  await api.create(bulletin);
  await playTurn(api, 'bulletin', 'editor', 'completion.submit', () => undefined);
});
afterAll(() => api.close());

/** A published path with a value for each parameter. */
const filled = (path: string) =>
  path
    .replace(':project', 'bulletin')
    .replace(':agent', 'editor')
    .replace(':turn', 'editor:1')
    .replaceAll(/:[a-z]+\b/g, (name) => (name === ':1' ? name : 'x'));

test('docs/coming-from-suzumio.md says of every route what the code does with it', () => {
  const told = publishedRoutes.map(({ method, path, meaning, here }) => [
    `\`${method.toUpperCase()} ${path}\``,
    meaning,
    here,
  ]);
  expect(rows.map((row) => row.slice(0, 3))).toEqual(told);
});

test.each(publishedRoutes)('$method $path is $meaning', (route) => {
  const { method, path, meaning } = route;
  expect(paths.has(`${method} ${path}`)).toBe(meaning === 'same' && path !== '/');
  if (route.meaning === 'alias') {
    expect(paths).toContain(`${method} ${route.of}`);
    const parameters = (text: string) => text.match(/:\w+/g);
    expect(parameters(route.of)).toEqual(parameters(path));
  }
});

test.each(examples)('$example works for $route', async ({ route, meaning, method, path, body }) => {
  const [, published = ''] = route.split(' ');
  const own = new RegExp(`^${published.replaceAll(/:\w+/g, '[^/]+')}(?:\\?.*)?$`);
  if (meaning === 'refused') expect(path).not.toMatch(own);
  else expect(path).toMatch(own);
  if (path.endsWith('/report') || /\/(approve|request-changes)$/.test(path)) await handIn();
  const answer = await fetch(`${api.url}${path}`, {
    method,
    headers: { authorization: `Bearer ${api.adminToken}`, ...(body ? { 'content-type': 'application/json' } : {}) },
    ...(body === undefined ? {} : { body }),
  });
  await answer.body?.cancel();
  expect({ path, status: answer.status }).toEqual({ path, status: path.endsWith('/messages') && body ? 201 : 200 });
});

/** Has the editor submit a report, unless one waits for a decision. */
async function handIn(): Promise<void> {
  const { json } = await api.get('/api/projects/bulletin');
  if ((json as { project: { status: string } }).project.status === 'running') {
    await submit(api, 'bulletin', 'editor', '# Bulletin');
  }
}

describe('a route that is none here', () => {
  test.each(publishedRoutes.filter(({ meaning }) => meaning === 'refused'))(
    '$method $path says what to use instead',
    async ({ method, path, here }) => {
      const answer = await api.call(method.toUpperCase(), filled(path));
      expect(refusal(answer)).toMatchObject({
        status: 404,
        code: 'not-found',
        detail: `There is no ${method.toUpperCase()} ${path} here: ${here}.`,
      });
    },
  );

  test('says nothing of that to those who show no token', async () => {
    const answer = await api.get('/api/projects/bulletin/task', { token: null });
    expect(refusal(answer)).toMatchObject({ status: 401, code: 'unauthenticated' });
  });

  test('with another method is one that there never was', async () => {
    const answer = await api.post('/api/projects/bulletin/task');
    expect(refusal(answer).detail).toBe('There is no POST /api/projects/bulletin/task here.');
  });

  test('answers the length of a request and no more', async () => {
    const answer = await api.get(`/api/projects/${'x'.repeat(5000)}/task`);
    expect(refusal(answer).status).toBe(404);
    expect(answer.text.length).toBeLessThan(500);
  });
});

describe('an alias', () => {
  const [alias, operation] = ['/api/projects/bulletin/activations', '/api/projects/bulletin/turns'];

  test('answers what the operation answers', async () => {
    for (const rest of ['', '/', '?limit=1', '/editor:1', '/editor%3A1?without=calls', '/editor:1/context?limit=1']) {
      const [there, here] = [alias + rest, operation + rest.replace('/context', '/conversation')];
      const [answer, expected] = [await api.get(there), await api.get(here)];
      expect({ there, status: answer.status, json: answer.json }).toEqual({ there, status: 200, json: expected.json });
    }
    expect((await api.get('/API/projects/bulletin/Activations')).status).toBe(200);
  });

  test('takes what the operation takes, and refuses what it refuses', async () => {
    for (const rest of ['?limit=1001', '?nonsense=1', '/nobody:1', '/%E0%A4%A', '/..%2F..%2Ftokens', '/editor:1/log']) {
      const [answer, expected] = [await api.get(alias + rest), await api.get(operation + rest)];
      const of = ({ status, json }: typeof answer) => ({ rest, status, code: (json as { code?: string }).code });
      if (rest === '/editor:1/log') expect(of(answer)).toEqual({ rest, status: 404, code: 'not-found' });
      else expect(of(answer)).toEqual(of(expected));
      expect(answer.status).toBeGreaterThanOrEqual(400);
    }
  });

  test('opens for tokens that the operation opens for', async () => {
    await api.create(bulletin.replace('name: bulletin', 'name: weekly'));
    const [own, other] = [await api.token('read', 'bulletin'), await api.token('read', 'weekly')];
    const ask = async (token: string | null) => (await api.get(alias, { token })).status;
    expect([await ask(own), await ask(other), await ask(null), await ask('szm_nobody')]).toEqual([200, 403, 401, 401]);
    const { items } = api.cell.catalog.audit.list({ limit: 100 });
    expect(items.at(-1)).toMatchObject({ method: 'GET', route: '/api/projects/:project/turns', project: 'bulletin' });
  });

  test('takes the methods that the operation takes', async () => {
    const answer = await api.post(alias, {});
    expect(refusal(answer)).toMatchObject({ status: 405, code: 'method-not-allowed' });
    expect(answer.headers.allow).toBe('GET, HEAD');
    expect((await api.call('HEAD', alias)).status).toBe(200);
  });

  test('counts for the limit of its token', async () => {
    const limited = await testApi({
      rateLimits: { readsPerSecond: 1, writesPerSecond: 0, failuresPerSecond: 0, burstSeconds: 2 },
    });
    try {
      await limited.create(bulletin);
      const answers = [];
      for (let asked = 0; asked < 6; asked += 1) answers.push((await limited.get(alias)).status);
      expect(answers).toContain(429);
    } finally {
      await limited.close();
    }
  });

  test('is none of the description', async () => {
    expect((await api.get('/openapi.json', { token: null })).text).not.toContain('activations');
  });
});
