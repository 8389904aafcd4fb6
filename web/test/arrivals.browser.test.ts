import { afterAll, beforeAll, expect, test } from '@jest/globals';
import type { Page } from 'playwright-core';
import { postMessage } from '@suzumio/store/mail/post-message';
import { type TestApi, testApi } from '../../services/api/test/support/api.js';
import { beginTurn, playTurn } from '../../services/api/test/support/play.js';
import { soon } from '../../test/support/poll.js';
import { linkFor } from '../../services/api/test/support/sign-in.js';
import { desk, testBrowser } from './support/browser.js';

const browser = testBrowser();
let api: TestApi;
beforeAll(async () => {
  api = await testApi();
  await api.create();
  for (let turn = 1; turn <= 40; turn += 1) await playTurn(api, 'team', 'ada', 'context.get', () => undefined);
  for (let letter = 1; letter <= 30; letter += 1) await writeToUser(`Letter ${letter}.`);
  for (let letter = 1; letter <= 30; letter += 1) await writeToBen(`Reading ${letter}.`);
  for (let label = 1; label <= 40; label += 1) await fileUnder();
});
afterAll(() => api.close());

const age = /(now|\d+ (s|min))$/;
let letters = 0;

const write = (recipient: string, body: string) =>
  api.write('team', (tx) =>
    postMessage(tx, { sender: 'ada', recipient, priority: 'P1', body: `${body} ${(letters += 1)}`, actor: 'ada' }),
  );
const writeToUser = (body: string) => write('user', body);
const writeToBen = (body: string) => write('ben', body);

const fileUnder = () => api.post('/api/projects/team/labels', { set: { number: String((letters += 1)) } });

async function open(path: string): Promise<Page> {
  const page = await browser.page(await browser.open({ viewport: desk }));
  await page.goto((await linkFor(api, { path })).url);
  await page.getByText(/^Live/).waitFor();
  return page;
}

/** Where the row stands that is in the middle of the list, and what it says: asked again, where the same row is now. */
const rowUnderTheEye = (page: Page, rows: string) =>
  page.evaluate<number>(`(() => {
    const all = [...document.querySelectorAll(${JSON.stringify(rows)})];
    const middle = (row) => Math.abs(row.getBoundingClientRect().top - innerHeight / 2);
    window.watched ??= all.sort((one, other) => middle(one) - middle(other))[0].textContent.replace(${String(age)}, '');
    const row = all.find(({ textContent }) => textContent.startsWith(window.watched));
    return Math.round(row.getBoundingClientRect().top);
  })()`);

/** What the rows say that are drawn, without how long ago each was. */
const textOf = async (page: Page, rows: string) =>
  (await page.locator(rows).allTextContents()).map((text) => text.replace(age, '')).join('\n');

test.each([
  ['the log', '/p/team/log', '.log-row', () => writeToBen('Look at the gauge.')],
  ['what people did', '/p/team/log?what=acts', '.table tbody tr', fileUnder],
  ['the turns', '/p/team/turns', '.turns-table tbody tr', (agent: string) => beginTurn(api, 'team', agent)],
  ['the inbox', '/', '.inbox-row', () => writeToUser('Look at the gauge.')],
  ['the mail', '/p/team/mail', '.mailbox-row', () => writeToUser('Look at the gauge.')],
] as const)(
  'what comes to %s moves nothing that is read, and is there at once at the top',
  async (_list, path, rows, come) => {
    const page = await open(path);
    await page.locator(rows).nth(5).waitFor();
    await page.locator(rows).nth(3).hover();
    await page.mouse.wheel(0, 500);
    await page.waitForTimeout(500);
    const before = await rowUnderTheEye(page, rows);
    await come('ben');
    const news = page.getByRole('button', { name: /^\d+ new$/ });
    await news.waitFor();
    expect(await rowUnderTheEye(page, rows)).toBe(before);
    expect((await news.boundingBox())?.y).toBeGreaterThanOrEqual(0);
    const shown = await textOf(page, rows);
    await news.click();
    await news.waitFor({ state: 'detached' });
    await soon(async () => expect(await textOf(page, rows)).not.toBe(shown));
    const top = await textOf(page, rows);
    await come('cat');
    await soon(async () => expect(await textOf(page, rows)).not.toBe(top));
    expect(await news.count()).toBe(0);
  },
);

test.each([
  ['mail', '/p/team/mail', '.mailbox-row', '50+ new'],
  ['the log', '/p/team/log', '.log-row', '100+ new'],
] as const)('more than is read at once is not counted as less: %s', async (_list, path, rows, words) => {
  const page = await open(path);
  await page.locator(rows).nth(5).waitFor();
  await page.locator(rows).nth(3).hover();
  await page.mouse.wheel(0, 500);
  await page.waitForTimeout(500);
  for (let letter = 1; letter <= 101; letter += 1) await writeToBen('Read the gauge.');
  const news = page.getByRole('button', { name: words, exact: true });
  await news.waitFor();
  await news.click();
  await news.waitFor({ state: 'detached' });
  await page.getByText(`Read the gauge. ${letters}`).first().waitFor();
});
