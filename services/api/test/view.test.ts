import { afterAll, beforeAll, describe, expect, test } from '@jest/globals';
import { teamYaml } from '../../../test/support/cell.js';
import { type TestApi, testApi } from './support/api.js';
import { publish, publishDirectory } from './support/play.js';
import { refusal } from './support/refusal.js';
import { signIn } from './support/sign-in.js';

const html = '<h1>The river</h1><script>fetch("/api/projects")</script>';
const svg = '<svg xmlns="http://www.w3.org/2000/svg"><script>alert(1)</script></svg>';
let api: TestApi;
let page: string;
let drawing: string;
let site: string;
beforeAll(async () => {
  api = await testApi();
  await api.create();
  const artifact = async (name: string, content: string) =>
    viewOf((await publish(api, 'team', 'ada', { name, content: Buffer.from(content) })).id);
  page = await artifact('page.HTML', html);
  drawing = await artifact('river.svg', svg);
  site = viewOf(await publishDirectory(api, 'team', 'site', { 'pages/index.htm': html, 'notes.md': '# Notes' }));
});
afterAll(() => api.close());

const viewOf = (id: string) => `/api/projects/team/artifacts/${id}/view`;

describe('a document for a frame', () => {
  test('is sent as what it is, in a sandbox that allows nothing', async () => {
    const answer = await api.get(page);
    expect({ status: answer.status, text: answer.text }).toEqual({ status: 200, text: html });
    expect(answer.headers).toMatchObject({
      'content-type': 'text/html; charset=utf-8',
      'content-length': String(html.length),
      'content-security-policy':
        "sandbox; default-src 'none'; style-src 'unsafe-inline'; img-src data:; frame-ancestors 'self'",
      'x-content-type-options': 'nosniff',
      'cache-control': 'no-store',
      'referrer-policy': 'no-referrer',
      'cross-origin-resource-policy': 'same-origin',
    });
    expect(answer.headers.etag).toBeUndefined();
    const drawn = await api.get(drawing);
    expect({ type: drawn.headers['content-type'], text: drawn.text }).toEqual({
      type: 'image/svg+xml; charset=utf-8',
      text: svg,
    });
    expect(drawn.headers['content-security-policy']).toMatch(/^sandbox;/);
    expect((await api.call('HEAD', page)).headers['content-security-policy']).toMatch(/^sandbox;/);
  });

  test('may be a file of a directory', async () => {
    expect((await api.get(`${site}?path=pages%2Findex.htm`)).text).toBe(html);
    expect(refusal(await api.get(`${site}?path=none.html`)).code).toBe('artifact-entry-unknown');
    expect(refusal(await api.get(`${page}?path=index.html`)).code).toBe('artifact-entry-unknown');
  });

  test('is nothing else', async () => {
    const { id } = await publish(api, 'team', 'ada', { name: 'html', content: Buffer.from(html) });
    for (const path of [viewOf(id), site, `${site}?path=notes.md`]) {
      expect(refusal(await api.get(path))).toMatchObject({
        status: 400,
        code: 'invalid-request',
        detail: expect.stringContaining('.html, .htm or .svg'),
      });
    }
  });

  test.each(['document', 'embed', 'object', 'image', 'script', 'style'])(
    'is not sent to a browser as %s',
    async (dest) => {
      expect(refusal(await api.get(page, { headers: { 'sec-fetch-dest': dest } })).code).toBe('invalid-request');
    },
  );

  test('is sent to those who may read its project', async () => {
    const own = await signIn(api, await api.token('read', 'team'));
    const inFrame = {
      'sec-fetch-dest': 'iframe',
      'sec-fetch-site': 'same-origin',
      cookie: own.headers['cookie'] ?? '',
    };
    expect((await api.get(page, { token: null, headers: inFrame })).status).toBe(200);
    const foreign = { ...inFrame, 'sec-fetch-site': 'cross-site' };
    expect(refusal(await api.get(page, { token: null, headers: foreign })).code).toBe('foreign-origin');
    await api.create(teamYaml.replace('name: team', 'name: other'));
    expect((await api.get(page, { token: await api.token('read', 'other') })).status).toBe(403);
  });
});
