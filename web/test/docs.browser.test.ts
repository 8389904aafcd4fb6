import { afterAll, beforeAll, describe, expect, test } from '@jest/globals';
import type { Page } from 'playwright-core';
import { type TestApi, testApi } from '../../services/api/test/support/api.js';
import { linkFor } from '../../services/api/test/support/sign-in.js';
import { desk, phone, testBrowser, violations } from './support/browser.js';

const browser = testBrowser();
let api: TestApi;
beforeAll(async () => {
  api = await testApi();
  await api.create();
});
afterAll(() => api.close());

/** The part of a page that is about one operation. */
const operation = (page: Page, id: string) =>
  page.locator('.docs-operation').filter({ has: page.locator(`[id="${id}"]`) });

describe('the docs', () => {
  test('are read and searched without signing in, where a link to it stands for calls', async () => {
    const page = await browser.page(await browser.open());
    // Whether somebody is signed in is asked of the server.
    browser.expectErrors(/status of 401/);
    await page.goto(`${api.url}/docs`);
    await page.getByRole('heading', { name: 'Suzumio', level: 1 }).waitFor();
    await page.keyboard.press('/');
    await page.keyboard.type('signing in');
    await page.locator('.docs-found a').first().waitFor();
    await page.keyboard.press('ArrowDown');
    await page.keyboard.press('Escape');
    await page.evaluate('new Promise((done) => requestAnimationFrame(done))');
    expect(await page.locator('.docs-found').isVisible()).toBe(false);
    await page.keyboard.type('n');
    await page.keyboard.press('Backspace');
    await page.locator('.docs-found a').first().waitFor();
    await page.keyboard.press('ArrowDown');
    await page.keyboard.press('Enter');
    await page.waitForURL(`${api.url}/docs/access#signing-in-to-the-page`);
    await page.getByRole('link', { name: 'Operations', exact: true }).click();
    await page.getByRole('link', { name: 'Service', exact: true }).first().click();
    await operation(page, 'getHealth').getByRole('link', { name: 'Sign in' }).waitFor();
    expect(await operation(page, 'getHealth').getByText('Call it here', { exact: true }).isVisible()).toBe(false);
    // What the page of the API was called by before.
    await page.goto(`${api.url}/docs#sendMessage`);
    await page.waitForURL(`${api.url}/docs/api#sendMessage`);
    await page.goto(`${api.url}/docs#schema-Project`);
    await page.waitForURL(`${api.url}/docs/api/schemas#schema-Project`);
    browser.expectErrors(/status of 404/);
    await page.goto(`${api.url}/docs/api/none`);
    await page.getByRole('heading', { name: 'There is no such page' }).waitFor();
    await page.getByRole('link', { name: 'the start' }).click();
    await page.waitForURL(`${api.url}/docs`);
  });

  test('call what the scope of the session allows, and show the answer as text', async () => {
    const page = await browser.page(await browser.open({ viewport: desk }));
    await page.goto((await linkFor(api, { path: '/docs/api/events' }, await api.token('read'))).url);
    await page.waitForURL(`${api.url}/docs/api/events`);
    const list = operation(page, 'listEvents');
    await list.getByText('Call it here', { exact: true }).click();
    await list.getByLabel('project').fill('team');
    await list.getByLabel('limit').fill('1');
    await list.getByRole('button', { name: 'Read' }).click();
    await list.getByText('200 OK application/json').waitFor();
    expect(JSON.parse(await list.locator('.docs-answer pre').innerText())).toMatchObject({ items: [{}] });
    expect(await violations(page)).toEqual([]);
    expect(
      await page.evaluate("dispatchEvent(new Event('pagehide')), document.querySelector('.docs-answer pre')"),
    ).toBe(null);
    await list.getByLabel('project').fill('<img src=x>');
    await list.getByRole('button', { name: 'Read' }).click();
    browser.expectErrors(/status of 40/);
    await list.getByText(/application\/problem\+json/).waitFor();
    expect(await list.locator('.docs-answer img').count()).toBe(0);
    // A stream has no end of its own.
    const stream = operation(page, 'streamEvents');
    await stream.getByText('Call it here', { exact: true }).click();
    await stream.getByLabel('project').fill('team');
    await stream.getByRole('button', { name: 'Read' }).click();
    await stream.getByRole('button', { name: 'Stop' }).click();
    await stream.getByText('Stopped.').waitFor();
    await page.goto(`${api.url}/docs/api/mail`);
    const send = operation(page, 'sendMessage');
    await send.getByText('You are signed in with the scope read; this needs mail.').waitFor();
    expect(await send.getByText('Call it here', { exact: true }).isVisible()).toBe(false);
  });

  test('write with a session that may, and are usable on a phone', async () => {
    const page = await browser.page(await browser.open({ viewport: phone }));
    await page.goto((await linkFor(api, { path: '/docs/api/mail' })).url);
    await page.waitForURL(`${api.url}/docs/api/mail`);
    const send = operation(page, 'sendMessage');
    await send.getByText('Call it here', { exact: true }).click();
    // Nothing is filled in that would do something.
    expect(await send.getByLabel('Body, as JSON').inputValue()).toBe('');
    await send.getByLabel('project').fill('team');
    await send.getByLabel('Body, as JSON').fill('{ "recipient": "ada", "body": }');
    await send.getByRole('button', { name: 'Call POST' }).click();
    await send.getByRole('status').getByText(/JSON/).waitFor();
    await send.getByLabel('Body, as JSON').fill('{ "recipient": "ada", "body": "From the docs." }');
    await send.getByRole('button', { name: 'Call POST' }).click();
    await send.getByText('201 Created application/json').waitFor();
    expect((await api.get('/api/projects/team/messages')).text).toContain('From the docs.');
    expect(await page.evaluate('document.documentElement.scrollWidth')).toBe(phone.width);
    await page.locator('.docs-menu summary').click();
    await page.getByRole('link', { name: 'Mail', exact: true }).first().click();
    await page.getByRole('heading', { name: 'Mail', level: 1 }).waitFor();
    await page.waitForURL(`${api.url}/docs/mail`);
    expect(await page.evaluate('document.documentElement.scrollWidth')).toBe(phone.width);
    expect(await violations(page)).toEqual([]);
  });
});
