import { afterAll, beforeAll, describe, expect, test } from '@jest/globals';
import { type TestApi, testApi } from '../../services/api/test/support/api.js';
import { beginTurn, failTurn, playTurn, submit } from '../../services/api/test/support/play.js';
import { linkFor } from '../../services/api/test/support/sign-in.js';
import { postMessage } from '@suzumio/store/mail/post-message';
import { teamYaml } from '../../test/support/cell.js';
import { freePort } from '../../test/support/free-port.js';
import { eventually, soon } from '../../test/support/poll.js';
import { desk, phone, tablet, testBrowser, violations } from './support/browser.js';

const browser = testBrowser();
let api: TestApi;
beforeAll(async () => {
  api = await testApi();
  await api.create();
  await api.create(teamYaml.replace('name: team', 'name: river'));
  await api.create(teamYaml.replace('name: team', 'name: bulletin'));
  await playTurn(api, 'team', 'ada', 'context.get', () => undefined);
  await failTurn(api, 'river', 'ben');
  await submit(api, 'bulletin', 'ada', '# Bulletin\n\nThe north gauge: **3.2 m**.\n');
});
afterAll(() => api.close());

/** A page of somebody who is signed in. */
async function open(path: string, options: Parameters<typeof browser.open>[0] = { viewport: desk }) {
  const page = await browser.page(await browser.open(options));
  await page.goto((await linkFor(api, { path })).url);
  await page.getByRole('navigation', { name: 'Suzumio' }).waitFor();
  return page;
}

describe('the inbox', () => {
  test('has what waits, by what hangs on it, and shows a report', async () => {
    const page = await open('/');
    await page.getByText('2 wait for you').waitFor();
    expect(await page.title()).toBe('(2) Inbox · Suzumio');
    await page.getByText('Benny failed in turn 1').waitFor();
    await page.getByText('The report is submitted, version 1').click();
    await page.getByRole('heading', { name: 'Bulletin' }).waitFor();
    await page.getByText('3.2 m', { exact: true }).waitFor();
    await page.getByText('suzumio approve bulletin --report-version 1').waitFor();
  });

  test('is told at once what came to wait', async () => {
    const page = await open('/');
    await api.create(teamYaml.replace('name: team', 'name: late'));
    await failTurn(api, 'late', 'ben');
    await page.getByText('3 wait for you').waitFor();
    const row = page.getByRole('region', { name: 'Items' }).getByRole('link', { name: /Benny failed in turn 1.*late/ });
    await row.waitFor();
    await soon(async () => expect(await page.title()).toBe('(3) Inbox · Suzumio'));
    // Whoever settles it: it leaves the list, and the title counts without it, also where it is looked at.
    await row.click();
    await api.post('/api/projects/late/agents/ben/reset', {});
    await page.getByText('2 wait for you').waitFor();
    await row.waitFor({ state: 'detached' });
    await soon(async () => expect(await page.title()).toBe('(2) Inbox · Suzumio'));
  });
});

describe('a project', () => {
  test('shows its team, its mail and its turns, and what happens', async () => {
    const page = await open('/p/team');
    await page.getByRole('heading', { name: 'team', level: 1 }).waitFor();
    await page.getByRole('group', { name: /1 turns? of 3 agents/ }).waitFor();
    await page.getByText('Please begin.').waitFor();
    await beginTurn(api, 'team', 'ben');
    await page.getByText('1 at work').waitFor();
    await page.getByRole('button', { name: 'Table' }).click();
    await page.getByRole('row', { name: /Benny turn 1/ }).waitFor();
  });

  test('that does not exist is said to, with the way on', async () => {
    const page = await open('/p/nothing');
    await page.getByText('There is no project').waitFor();
    await page.getByRole('link', { name: 'All projects' }).click();
    await page.getByRole('heading', { name: 'Projects', exact: true }).waitFor();
    browser.expectErrors(/status of 404/);
  });

  test('that is deleted while it is shown stays as it was, and says so', async () => {
    await api.create(teamYaml.replace('name: team', 'name: brief'));
    const page = await open('/p/brief');
    await page.getByRole('heading', { name: 'brief', level: 1 }).waitFor();
    await api.call('DELETE', '/api/projects/brief');
    await page.getByText('This project was deleted.').waitFor();
    await page.getByRole('heading', { name: 'brief', level: 1 }).waitFor();
    browser.expectErrors(/status of 404/);
  });
});

describe('two tabs', () => {
  test('share one stream, and both are live when the one that reads it is closed', async () => {
    const context = await browser.open();
    const streams = { count: 0 };
    context.on('request', (request) => {
      if (request.url().endsWith('/api/stream')) streams.count += 1;
    });
    const first = await browser.page(context);
    await first.goto((await linkFor(api, { path: '/p/team' })).url);
    await first.getByText(/^Live/).waitFor();
    const second = await browser.page(context);
    await second.goto(`${api.url}/p/team`);
    await second.getByText(/^Live/).waitFor();
    await api.post('/api/projects/team/messages', { recipient: 'cat', body: 'To both tabs.' });
    await Promise.all([first, second].map((page) => page.getByText('To both tabs.').waitFor()));
    expect(streams.count).toBe(1);
    await first.close();
    await api.post('/api/projects/team/messages', { recipient: 'cat', body: 'To the one that is left.' });
    await second.getByText('To the one that is left.').waitFor();
    expect(await second.getByText('To both tabs.').count()).toBe(1);
  });
});

test('a server that goes away is said to, and nothing is missed when it is back', async () => {
  const other = await testApi({ port: await freePort() });
  await other.create();
  const page = await browser.page(await browser.open());
  await page.goto((await linkFor(other, { path: '/p/team' })).url);
  await page.getByText(/^Live/).waitFor();
  await other.api.stop();
  await page.getByText('Connection lost').waitFor();
  await other.write('team', (tx) =>
    postMessage(tx, { sender: 'user', recipient: 'ada', priority: 'P1', body: 'While it was away.', actor: 'test' }),
  );
  await other.api.start();
  await page.getByText('While it was away.').waitFor();
  await page.getByText('Connection lost').waitFor({ state: 'detached' });
  expect(await page.getByText('While it was away.').count()).toBe(1);
  await page.context().close();
  await other.close();
  browser.expectErrors(/ERR_|Failed to load/);
});

test('what comes while a page is read for the first time is not missed', async () => {
  const page = await browser.page(await browser.open());
  const held = { answers: 0 };
  const isHeld = new Promise<void>((resolve) => {
    page
      .route(/\/api\/projects\/team\/messages\?/, async (route) => {
        held.answers += 1;
        if (held.answers > 1) return route.continue();
        const answer = await route.fetch();
        resolve();
        // Until the page was told of the message that this answer does not have.
        await told;
        return route.fulfill({ response: answer });
      })
      .catch(() => undefined);
  });
  let tell: () => void = () => undefined;
  const told = new Promise<void>((resolve) => (tell = resolve));
  await page.goto((await linkFor(api, { path: '/p/team' })).url);
  await isHeld;
  const count = page.getByRole('navigation', { name: 'team' }).getByRole('link', { name: /^Mail/ });
  const before = await count.innerText();
  await api.post('/api/projects/team/messages', { recipient: 'cat', body: 'At the first moment.' });
  await eventually('the page was told', async () => (await count.innerText()) !== before);
  tell();
  await page.getByText('At the first moment.').waitFor();
  await eventually('it is read again', () => held.answers > 1);
});

test('a browser whose network goes away stays with a server on its own machine', async () => {
  const page = await open('/p/team');
  const button = (name: string) => page.getByRole('button', { name, exact: true });
  await page.getByText(/^Live/).waitFor();
  await page.evaluate(`window.dispatchEvent(new Event('offline'))`);
  await api.post('/api/projects/team/messages', { recipient: 'cat', body: 'Without a network.' });
  await page.getByText('Without a network.').waitFor();
  await button('Pause').click();
  await button('Resume').click();
  await button('Pause').waitFor();
  expect(await page.getByText('Connection lost').count()).toBe(0);
});

test.each([
  ['/', desk],
  ['/projects', desk],
  ['/p/team', desk],
  ['/', tablet],
  ['/p/team', tablet],
  ['/', phone],
  ['/projects', phone],
  ['/p/team', phone],
])('%s is for everybody at %o', async (path, viewport) => {
  const page = await open(path, { viewport });
  await page.locator('h1').first().waitFor();
  expect(await violations(page)).toEqual([]);
  const width = await page.evaluate<number>('document.documentElement.scrollWidth');
  expect(width).toBeLessThanOrEqual(viewport.width);
});
