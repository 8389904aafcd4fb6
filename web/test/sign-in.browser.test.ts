import { afterAll, beforeAll, describe, expect, test } from '@jest/globals';
import { type TestApi, testApi } from '../../services/api/test/support/api.js';
import { linkFor } from '../../services/api/test/support/sign-in.js';
import { desk, testBrowser, violations } from './support/browser.js';

const browser = testBrowser();
let api: TestApi;
beforeAll(async () => {
  api = await testApi();
  await api.create();
});
afterAll(() => api.close());

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
