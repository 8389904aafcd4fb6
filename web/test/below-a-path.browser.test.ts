import { readFile } from 'node:fs/promises';
import { afterAll, beforeAll, expect, test } from '@jest/globals';
import { type TestApi, testApi } from '../../services/api/test/support/api.js';
import { publish } from '../../services/api/test/support/play.js';
import { linkFor } from '../../services/api/test/support/sign-in.js';
import { type ReverseProxy, startReverseProxy } from '../../test/support/reverse-proxy.js';
import { testBrowser } from './support/browser.js';

const browser = testBrowser();
const levels = 'station,level\nnorth,218\n';
let api: TestApi;
let proxy: ReverseProxy;
beforeAll(async () => {
  proxy = await startReverseProxy({ target: 'http://127.0.0.1:1', prefix: '/suzumio', keepsHost: true });
  api = await testApi({ publicUrl: proxy.url });
  proxy.target = api.url;
  await api.create();
  await publish(api, 'team', 'ada', { name: 'levels.csv', content: Buffer.from(levels) });
  await publish(api, 'team', 'ada', { name: 'level.html', content: Buffer.from('<h1>The level is 3.2 m</h1>') });
});
afterAll(async () => {
  await api.close();
  await proxy.close();
});

test('all of the page is below the path that a proxy has it at', async () => {
  const page = await browser.page(await browser.open());
  // Where the proxy has something else, or nothing.
  const strayed: string[] = [];
  page.on('request', (request) => {
    if (!/^(data|blob):/.test(request.url()) && !request.url().startsWith(`${proxy.url}/`)) strayed.push(request.url());
  });
  const { url } = await linkFor(api, { path: '/p/team' });
  expect(url.startsWith(`${proxy.url}/`)).toBe(true);
  await page.goto(url);
  await page.waitForURL(`${proxy.url}/p/team`);
  await page.getByText(/^Live/).waitFor();
  await api.post('/api/projects/team/messages', { recipient: 'cat', body: 'Through the proxy.' });
  await page.getByText('Through the proxy.').waitFor();
  await page.getByRole('button', { name: 'Pause', exact: true }).click();
  await page.getByRole('button', { name: 'Resume', exact: true }).waitFor();

  const tabs = page.getByRole('navigation', { name: 'team' });
  await tabs.getByRole('link', { name: /^Files/ }).click();
  await page.getByRole('link', { name: /levels\.csv/ }).click();
  await page.getByRole('cell', { name: '218' }).waitFor();
  const downloading = page.waitForEvent('download');
  await page.getByRole('link', { name: 'Download', exact: true }).click();
  expect(await readFile(await (await downloading).path(), 'utf8')).toBe(levels);
  await page.getByRole('link', { name: /level\.html/ }).click();
  await page.frameLocator('iframe.framed').getByText('The level is 3.2 m').waitFor();

  await page.reload();
  await page.frameLocator('iframe.framed').getByText('The level is 3.2 m').waitFor();
  await page.keyboard.press('Control+k');
  await page.getByRole('combobox').fill('inbox');
  await page.keyboard.press('Enter');
  await page.waitForURL(`${proxy.url}/`);
  await page.goto(`${proxy.url}/docs`);
  await page.getByRole('link', { name: 'Operations', exact: true }).click();
  await page.waitForURL(`${proxy.url}/docs/api`);

  const cookies = await page.context().cookies();
  expect(cookies.map(({ path }) => path)).toEqual(['/suzumio']);
  expect(strayed).toEqual([]);
});
