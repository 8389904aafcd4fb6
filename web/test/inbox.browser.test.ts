import { afterAll, beforeAll, describe, expect, test } from '@jest/globals';
import type { Page } from 'playwright-core';
import { postMessage } from '@suzumio/store/mail/post-message';
import { replyToMessage } from '@suzumio/store/mail/reply-to-message';
import { type TestApi, testApi } from '../../services/api/test/support/api.js';
import { failTurn, publish, submit } from '../../services/api/test/support/play.js';
import { linkFor } from '../../services/api/test/support/sign-in.js';
import { teamYaml } from '../../test/support/cell.js';
import { soon } from '../../test/support/poll.js';
import { desk, phone, testBrowser, violations } from './support/browser.js';

const browser = testBrowser();
let api: TestApi;
beforeAll(async () => {
  api = await testApi();
  const named = (name: string) => `${teamYaml.replace('name: team', `name: ${name}`)}\nturn: { maxAttempts: 1 }`;
  for (const name of ['river', 'bulletin', 'weir']) await api.create(named(name));
  await failTurn(api, 'river', 'ben');
  await submit(api, 'bulletin', 'ada', '# Bulletin\n');
  await publish(api, 'weir', 'ada', { name: 'north gauge.csv', content: Buffer.from('1\n') });
  await api.write('weir', (tx) =>
    postMessage(tx, {
      sender: 'ada',
      recipient: 'user',
      priority: 'P1',
      body: 'The north gauge <img src=x onerror=alert(1)> \u202e reads 3.2 m.',
      actor: 'ada',
    }),
  );
});
afterAll(() => api.close());

async function open(path: string, options: Parameters<typeof browser.open>[0] = { viewport: desk }) {
  const page = await browser.page(await browser.open(options));
  await page.goto((await linkFor(api, { path })).url);
  await page.getByRole('navigation', { name: 'Suzumio' }).waitFor();
  return page;
}

describe('the inbox', () => {
  test('begins the row of a failure with what happened to whom, and counts what waits in each project', async () => {
    const page = await open('/');
    await page.getByText('Benny failed in turn 1: non-zero-exit').waitFor();
    await page.getByRole('link', { name: 'Inbox 2' }).waitFor();
    await page.getByRole('link', { name: /bulletin 1/ }).waitFor();
  });

  test('has what is settled under what waits, with who decided it', async () => {
    const page = await open('/');
    await page.getByText('The report is submitted, version 1').waitFor();
    await api.post('/api/projects/bulletin/approve', {});
    await api.post('/api/projects/weir/budget', { turns: 20 });
    const decided = page.getByRole('region', { name: 'Decided' });
    await decided.getByText('The report was approved, version 1').waitFor();
    await decided.getByText('The budget is now 20 turns').waitFor();
    await decided.getByText('bulletin, by admin').waitFor();
    await decided.getByRole('link', { name: /The report was approved/ }).click();
    await page.getByRole('heading', { name: 'Bulletin', exact: true }).waitFor();
  });
});

describe('letters to the person', () => {
  const letters = (page: Page) => page.getByRole('region', { name: 'Written to you' }).getByRole('link');
  const write = (project: string, first: string, ...others: string[]) =>
    api.write(project, (tx) => {
      const letter = { sender: 'ada', recipient: 'user', priority: 'P1', actor: 'ada' } as const;
      const { id } = postMessage(tx, { ...letter, body: first });
      for (const body of others) replyToMessage(tx, { ...letter, message: id, body });
    });

  test('stand by thread, the newest first, are answered there, and are done with one by one or all', async () => {
    await api.create(teamYaml.replace('name: team', 'name: lagoon'));
    await write('lagoon', 'The first of two.', 'The second of two.');
    await write('lagoon', 'Alone.');
    const page = await open('/');
    await letters(page).first().waitFor();
    expect((await letters(page).allInnerTexts()).map((row) => row.replaceAll(/\s+/g, ' '))).toEqual([
      expect.stringContaining('Alone.'),
      expect.stringMatching(/2 letters.*The second of two\./),
      expect.stringContaining('The north gauge'),
    ]);
    await page.getByRole('link', { name: /^Inbox .*4 unread$/ }).waitFor();
    await letters(page).filter({ hasText: 'second of two' }).click();
    const about = page.getByRole('region', { name: 'What it is about' });
    await about.getByText('The first of two.').waitFor();
    // What was opened looks otherwise than what was not, and is not done for that.
    await page.locator('.inbox-opened', { hasText: 'second of two' }).waitFor();
    expect(await page.locator('.inbox-new').count()).toBe(2);
    await about.getByRole('textbox', { name: 'Write to ada' }).fill('Both are read.');
    await page.keyboard.press('Control+Enter');
    await about.getByText('Both are read.').first().waitFor();
    await page.getByRole('link', { name: /^Inbox .*2 unread$/ }).waitFor();
    await letters(page).filter({ hasText: 'Alone.' }).click();
    await about.getByRole('button', { name: 'Done' }).click();
    await about.getByText('This is settled.').waitFor();
    await page.getByRole('link', { name: /^Inbox .*1 unread$/ }).waitFor();
    await page.getByRole('button', { name: 'All done' }).click();
    await soon(async () => expect(await letters(page).count()).toBe(0));
    await page.getByText('unread').waitFor({ state: 'detached' });
    await page.getByRole('button', { name: 'Show done' }).click();
    await letters(page).filter({ hasText: 'Alone.' }).waitFor();
    expect(await page.getByRole('button', { name: 'All done' }).count()).toBe(0);
    // What is done is read by its address as before.
    await page.getByRole('button', { name: 'Hide done' }).click();
    await page.reload();
    await page.getByText('Alone.').first().waitFor();
  });
});

describe('a failure', () => {
  const failed = async (name: string, code: 'provider-key-rejected' | 'step-limit', message: string) => {
    await api.create(`${teamYaml.replace('name: team', `name: ${name}`)}\nturn: { maxAttempts: 1 }`);
    await failTurn(api, name, 'ben', undefined, { code, message });
  };

  test('that has to be mended first says what, and is retried from there', async () => {
    await failed('locked', 'provider-key-rejected', "Look at the key in the server's variable KEY.");
    const page = await open('/');
    await page
      .getByRole('region', { name: 'Items' })
      .getByRole('link', { name: /Benny failed.*locked/ })
      .click();
    await page.getByText('Retry it once the server was started with a key that the provider accepts').waitFor();
    await page.getByRole('button', { name: /^Retry/ }).click();
    await page.getByText('Turn 1 of Benny was retried').first().waitFor();
  });

  test('that a retry would repeat is begun again, on the pages of the turn and of the agent as in the inbox', async () => {
    await failed('round', 'step-limit', 'A turn may ask its model 4 times.');
    const page = await open('/p/round/turns/ben:1');
    await page.getByRole('button', { name: /^Begin again/ }).waitFor();
    expect(await page.getByRole('button', { name: /^Retry/ }).count()).toBe(0);
    await page.getByRole('link', { name: 'What can be done' }).click();
    await page
      .locator('.agent-head')
      .getByRole('button', { name: /^Begin again/ })
      .waitFor();
    expect(await page.getByRole('button', { name: /^Retry/ }).count()).toBe(0);
    await page.keyboard.press('r');
    await page.getByRole('status').getByText('Its mail is unread again.').waitFor();
  });
});

test('who comes to a server without projects is led to the first', async () => {
  const empty = await testApi();
  try {
    const page = await browser.page(await browser.open({ viewport: desk }));
    await page.goto((await linkFor(empty, { path: '/' })).url);
    await page.getByRole('heading', { name: 'No project yet' }).waitFor();
    expect(await page.getByText('Choose an item').count()).toBe(0);
    await page.getByRole('link', { name: 'Make the first project' }).click();
    await page.getByRole('heading', { name: 'New project' }).waitFor();
    // Its stream ends with it.
    await page.context().close();
  } finally {
    await empty.close();
  }
});

describe('the page of the system', () => {
  test('shows what was seen, and says what was not', async () => {
    const announce = (busy: number) =>
      api.transport.announce({ worker: 'north-1', slots: 4, busy, version: '1.2.0', state: 'ready' });
    await announce(3);
    const page = await open('/system');
    const services = page.getByRole('region', { name: 'Services' });
    await services.getByText(/Scheduler/).waitFor();
    expect(await services.getByText('not seen').count()).toBe(2);
    await services.getByText('3 of 4 slots busy').waitFor();
    await page.getByRole('row', { name: /north-1 ready 3 of 4 1\.2\.0/ }).waitFor();
    const failed = page.getByRole('region', { name: 'Failed agents' });
    await failed.getByText('suzumio agents retry river ben').waitFor();
    await page.getByText('suzumio redeliver river 1 --agent ben').waitFor();
    const broken = page.getByRole('region', { name: 'What is broken' });
    await broken.getByText(/none is alive .*: no turn starts/).waitFor();
    await broken.getByText('start it again; its log says why it ended').first().waitFor();
    await announce(1);
    await services.getByText('1 of 4 slots busy').waitFor();
  });
});

describe('the search', () => {
  test('finds in everything, keeps its words in the address, and takes what is found as text', async () => {
    const page = await open('/');
    await page.keyboard.press('Control+k');
    await page.getByRole('combobox').fill('gauge');
    await page.keyboard.press('Enter');
    const mail = page.getByRole('region', { name: 'Mail' });
    await mail.getByText('<img src=x onerror=alert(1)>').waitFor();
    await mail.getByText('‹202E›').waitFor();
    expect(new URL(page.url()).search).toBe('?q=gauge');
    await page
      .getByRole('region', { name: 'Files' })
      .getByRole('link', { name: /north gauge\.csv/ })
      .waitFor();
    await page.getByRole('searchbox').fill('100% of "north gauge"');
    await page.getByText('Nothing is found').first().waitFor();
    await page.getByRole('searchbox').fill('river');
    await page.getByRole('region', { name: 'Projects', exact: true }).getByRole('link', { name: /river/ }).click();
    await page.getByRole('heading', { name: 'river', level: 1 }).waitFor();
    await page.goBack();
    await soon(async () => {
      expect(await page.getByRole('searchbox').inputValue()).toBe('river');
    });
  });

  test('says what is wrong with what it is asked', async () => {
    const page = await open('/search?q=%22north');
    await page.getByText(/quotation mark/).waitFor();
    browser.expectErrors(/status of 400/);
  });
});

test.each([
  ['/', desk],
  ['/system', desk],
  ['/search?q=gauge', desk],
  ['/system', phone],
  ['/search?q=gauge', phone],
])('%s is for everybody at %o', async (path, viewport) => {
  const page = await open(path, { viewport });
  await page.locator('#content h2').first().waitFor();
  expect(await violations(page)).toEqual([]);
  const width = await page.evaluate<number>('document.documentElement.scrollWidth');
  expect(width).toBeLessThanOrEqual(viewport.width);
});
