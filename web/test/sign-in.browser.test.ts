import { once } from 'node:events';
import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import { afterAll, beforeAll, describe, expect, test } from '@jest/globals';
import { type TestApi, testApi } from '../../services/api/test/support/api.js';
import { linkFor } from '../../services/api/test/support/sign-in.js';
import { soon } from '../../test/support/poll.js';
import { desk, testBrowser, violations } from './support/browser.js';

const browser = testBrowser();
let api: TestApi;
beforeAll(async () => {
  api = await testApi();
  await api.create();
});
afterAll(() => api.close());

/** What has happened, but for what was noted of refusals. */
const happened = () => api.rows('team', 'SELECT seq, type FROM events ORDER BY seq');

describe('a link', () => {
  test('signs in, leads to its page, and leaves its code nowhere', async () => {
    const page = await browser.page(await browser.open());
    const { url } = await linkFor(api, { path: '/p/team' });
    await page.goto(url);
    await page.getByRole('heading', { name: 'team', level: 1 }).waitFor();
    expect(page.url()).toBe(`${api.url}/p/team`);
    await page.goBack().catch(() => undefined);
    expect(page.url()).not.toContain('szm_');
  });

  test('that was used says so, and what to do', async () => {
    const { url } = await linkFor(api);
    const first = await browser.page(await browser.open());
    await first.goto(url);
    await first.getByRole('heading', { name: 'Inbox' }).waitFor();
    const second = await browser.page(await browser.open());
    await second.goto(url);
    await second.getByText('This link signs nobody in').waitFor();
    await second.getByText('suzumio open', { exact: true }).waitFor();
    browser.expectErrors(/status of 410/);
  });

  test('is pasted where one is not signed in, and leads back there', async () => {
    const page = await browser.page(await browser.open());
    await page.goto(`${api.url}/projects`);
    await page.getByRole('heading', { name: 'Sign in' }).waitFor();
    expect(await violations(page)).toEqual([]);
    await page.getByLabel('Link').fill((await linkFor(api)).url);
    await page.keyboard.press('Enter');
    await page.getByRole('heading', { name: 'Projects', exact: true }).waitFor();
    expect(page.url()).toBe(`${api.url}/projects`);
    browser.expectErrors(/status of 401/);
  });
});

test('a token of one project sees that project, live', async () => {
  const token = await api.token('read', 'team');
  const page = await browser.page(await browser.open({ viewport: desk }));
  await page.goto((await linkFor(api, { path: '/p/team' }, token)).url);
  await page.getByText('Live', { exact: true }).waitFor();
  await api.post('/api/projects/team/messages', { recipient: 'ada', body: 'The river is rising.' });
  await page.getByText('The river is rising.').waitFor();
});

/** A page that somebody else serves on this machine, by the name under which it is opened. */
async function foreignPage(html: string): Promise<{ at: (host: string) => string; close: () => void }> {
  const server = createServer((_request, response) => response.setHeader('content-type', 'text/html').end(html));
  await once(server.listen(0), 'listening');
  const { port } = server.address() as AddressInfo;
  return { at: (host) => `http://${host}:${String(port)}/`, close: () => server.close() };
}

test.each([
  ['on another port, to which the browser gives the cookie', '127.0.0.1', true],
  ['of another site', 'localhost', false],
])('a page %s does nothing with the session, by forms or by requests', async (_where, host, hasCookie) => {
  const context = await browser.open({ viewport: desk });
  const mine = await browser.page(context);
  await mine.goto((await linkFor(api, { path: '/p/team' })).url);
  await mine.getByRole('heading', { name: 'team', level: 1 }).waitFor();
  // Sent as text/plain, the name and the value of its field are JSON.
  const [name, value] = ['{"recipient":"ada","body":"forged', '"}'].map((part) => part.replaceAll('"', '&quot;'));
  const types = ['application/x-www-form-urlencoded', 'multipart/form-data', 'text/plain'];
  const forms = types.map(
    (type, at) =>
      `<iframe name="frame-${at}"></iframe><form method="post" target="frame-${at}" enctype="${type}"
        action="${api.url}/api/projects/team/messages"><input name="${name}" value="${value}"></form>`,
  );
  const foreign = await foreignPage(forms.join(''));
  try {
    const page = await browser.page(context);
    const answers: string[] = [];
    page.on('response', (answer) => {
      const { pathname } = new URL(answer.url());
      if (pathname.startsWith('/api')) answers.push(`${answer.request().method()} ${pathname} ${answer.status()}`);
    });
    await page.goto(foreign.at(host));
    const before = await happened();
    const gave = page.waitForRequest(/\/messages$/).then((request) => request.allHeaders());
    await page.evaluate('for (const form of document.forms) form.submit()');
    const fetched = (path: string, method: string, type: string, mode: string) =>
      page.evaluate<string>(`fetch('${api.url}/api/projects${path}', { method: '${method}', mode: '${mode}', credentials: 'include',
        ${method === 'GET' ? '' : `headers: { 'content-type': '${type}' }, body: '{"recipient":"ada","body":"forged"}',`}
      }).then(({ type }) => type, () => 'failed')`);
    for (const type of ['text/plain', 'application/json']) {
      expect(await fetched('/team/messages', 'POST', type, 'no-cors')).toBe('opaque');
      expect(await fetched('/team/messages', 'POST', type, 'cors')).toBe('failed');
    }
    expect(await fetched('', 'GET', '', 'cors')).toBe('failed');
    const beacon = `navigator.sendBeacon('${api.url}/api/projects/team/pause', new Blob(['{}'], { type: 'text/plain' }))`;
    expect(await page.evaluate(beacon)).toBe(true);
    const count = (wanted: string) => answers.filter((answer) => answer === wanted).length;
    await soon(() => {
      expect(count('POST /api/projects/team/pause 403')).toBe(1);
      expect(count('POST /api/projects/team/messages 403')).toBeGreaterThanOrEqual(types.length + 2);
    });
    expect(answers.filter((answer) => /^POST .* [23]..$/.test(answer))).toEqual([]);
    expect(await gave.then((headers) => 'cookie' in headers)).toBe(hasCookie);
    expect(await happened()).toEqual(before);
  } finally {
    foreign.close();
  }
  // The session is what it was.
  await mine.getByRole('button', { name: /^Pause/ }).click();
  await mine.getByRole('button', { name: 'Resume', exact: true }).click();
  await mine.getByRole('button', { name: /^Pause/ }).waitFor();
  browser.expectErrors(/status of 4|CORS|ERR_|frame/i);
});

test('who is signed in at another server of the same machine is not signed in here', async () => {
  const other = await testApi();
  try {
    const page = await browser.page(await browser.open());
    await page.goto((await linkFor(other)).url);
    await page.getByRole('heading', { name: 'Inbox' }).waitFor();
    await page.goto(api.url);
    await page.getByRole('heading', { name: 'Sign in' }).waitFor();
    browser.expectErrors(/status of 401/);
    await page.context().close();
  } finally {
    await other.close();
  }
});

test('no other site frames the page or reads it', async () => {
  const page = await browser.page(await browser.open());
  const { headers } = await api.get('/p/team', { token: null });
  expect(headers['content-security-policy']).toBe(
    [
      "default-src 'none'; script-src 'self'; style-src 'self'; font-src 'self'; img-src 'self' blob:; connect-src 'self'",
      "worker-src 'self'; frame-src 'self'; base-uri 'none'; form-action 'self'; frame-ancestors 'none'",
      "require-trusted-types-for 'script'; trusted-types suzumio-worker",
    ].join('; '),
  );
  const frame = `<iframe src="${api.url}/"></iframe>`;
  await page.route('http://evil.example/', (route) => route.fulfill({ contentType: 'text/html', body: frame }));
  await page.goto('http://evil.example/');
  await page.waitForTimeout(300);
  expect(await page.frames()[1]?.locator('#page').count()).toBe(0);
  browser.expectErrors(/frame/i);
});
