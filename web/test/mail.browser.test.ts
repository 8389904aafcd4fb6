import { afterAll, beforeAll, describe, expect, test } from '@jest/globals';
import type { Page } from 'playwright-core';
import { type TestApi, testApi } from '../../services/api/test/support/api.js';
import { beginTurn, failTurn, playTurn, publish } from '../../services/api/test/support/play.js';
import { linkFor } from '../../services/api/test/support/sign-in.js';
import { assignTask } from '@suzumio/store/mail/assign-task';
import { postMessage } from '@suzumio/store/mail/post-message';
import { replyToMessage } from '@suzumio/store/mail/reply-to-message';
import { desk, go, phone, testBrowser, violations } from './support/browser.js';

const browser = testBrowser();
const hostile = '<img src=x onerror="document.title=1"> [here](javascript:alert(1)) \u202Ereversed\u200B';
let api: TestApi;
beforeAll(async () => {
  api = await testApi();
  await api.create();
  const mail = { sender: 'user', priority: 'P1', actor: 'test' } as const;
  await publish(api, 'team', 'ada', { name: 'south.csv', content: Buffer.from('18:00,2.9\n') });
  await api.write('team', (tx) => {
    const { id } = postMessage(tx, { ...mail, sender: 'ada', recipient: 'ben', body: 'The south gauge, please.' });
    replyToMessage(tx, { ...mail, message: id, recipient: 'cat', priority: 'P0', body: 'At once.' });
    postMessage(tx, { ...mail, recipient: undefined, channel: '#team', body: hostile, attachments: ['south.csv'] });
    assignTask(tx, { ...mail, role: 'reader', body: 'Read the north gauge.' });
  });
  await playTurn(api, 'team', 'ben', 'context.get', () => undefined);
});
afterAll(() => api.close());

/** A page of somebody who is signed in. */
async function open(path: string, options: Parameters<typeof browser.open>[0] = { viewport: desk }) {
  const page = await browser.page(await browser.open(options));
  await page.goto((await linkFor(api, { path })).url);
  await page.getByRole('heading', { level: 1 }).first().waitFor();
  return page;
}

const threads = (page: Page) => page.getByRole('region', { name: 'Threads' }).getByRole('link');

describe('mail', () => {
  test('is listed by thread, and a thread says what became of each message', async () => {
    const page = await open('/p/team/mail');
    await threads(page).filter({ hasText: 'At once.' }).click();
    const thread = page.getByRole('region', { name: 'Thread', exact: true });
    await thread.getByText('The south gauge, please.').first().waitFor();
    await thread.getByText('At once.').first().waitFor();
    expect(await thread.getByText('P0', { exact: true }).count()).toBe(1);
    expect(
      await thread
        .getByRole('link', { name: /^Benn?y?, turn 1$/ })
        .first()
        .getAttribute('href'),
    ).toBe('/p/team/turns/ben:1');
    await thread.getByText(/^suzumio reply team \d+ "…"$/).waitFor();
    await threads(page).filter({ hasText: '#team' }).click();
    const letter = thread.locator('.markdown');
    await letter.getByText(/‹202E›reversed‹200B›/).waitFor();
    expect(await thread.locator('img').count()).toBe(0);
    expect(await letter.getByText('here').getAttribute('href')).toBeNull();
    expect(await thread.getByRole('link', { name: /south\.csv/ }).getAttribute('href')).toMatch(
      /^\/p\/team\/files\/art_/,
    );
  });

  test('is narrowed and searched by its address', async () => {
    const page = await open('/p/team/mail?from=ada');
    const found = page.getByRole('region', { name: 'Messages' }).getByRole('link');
    await found.getByText('The south gauge, please.').waitFor();
    expect(await found.count()).toBe(1);
    await page.getByRole('combobox', { name: 'From' }).selectOption('');
    await page.getByRole('searchbox').fill('gauge');
    await page.keyboard.press('Enter');
    await found.locator('mark').first().waitFor();
    expect(new URL(page.url()).search).toBe('?q=gauge');
    await found.filter({ hasText: 'north' }).click();
    await page.getByRole('article').getByText('Read the north gauge.').waitFor();
    expect(new URL(page.url()).search).toBe('?q=gauge');
    await go(page, '/p/team/mail/999');
    await page.getByText('There is no message 999').waitFor();
    browser.expectErrors(/status of 404/);
  });

  test('on a phone is a list, and a thread over it', async () => {
    const page = await open('/p/team/mail', { viewport: phone });
    await threads(page).filter({ hasText: 'At once.' }).click();
    await page.getByRole('article').getByText('The south gauge, please.').waitFor();
    expect(await threads(page).count()).toBe(0);
    await page.getByRole('link', { name: 'All mail' }).click();
    await threads(page).first().waitFor();
  });
});

test('tasks stand by their state, and move with it', async () => {
  const page = await open('/p/team/tasks');
  const column = (name: string) => page.getByRole('region', { name: new RegExp(`^${name}`) });
  await column('Open').getByText('Read the north gauge.').waitFor();
  await api.write('team', (tx) => {
    const task = tx.get<{ id: string; agent: string }>('SELECT message_id AS id, assignee AS agent FROM tasks');
    replyToMessage(tx, {
      message: task?.id ?? '',
      sender: task?.agent ?? '',
      priority: 'P1',
      body: 'It fails at 18:00.',
      actor: 'test',
      task: 'done',
    });
  });
  await column('Done').getByText('Read the north gauge.').waitFor();
  expect(await column('Open').getByText('Read the north gauge.').count()).toBe(0);
  await column('Done').getByRole('link', { name: 'The reply' }).click();
  await page.getByText('It fails at 18:00.').first().waitFor();
});

describe('an agent', () => {
  test('says why it is quiet, with the next step, and what waits for it', async () => {
    await failTurn(api, 'team', 'cat');
    const page = await open('/p/team');
    await page.getByRole('link', { name: 'Why is it quiet?' }).click();
    await page
      .getByRole('listitem')
      .filter({ hasText: 'cat' })
      .getByText(/exit code 3/)
      .waitFor();
    await page.getByRole('link', { name: /cat/ }).last().click();
    await page.getByText('suzumio agents retry team cat').waitFor();
    await page.getByRole('link', { name: /^failed Turn 1/ }).waitFor();
    await api.post('/api/projects/team/messages', { recipient: 'cat', body: 'Are you there?' });
    await page.getByRole('region', { name: 'Unread mail' }).getByText('Are you there?').waitFor();
    await page.getByText('Its prompt').click();
    await go(page, '/p/team/agents/nobody');
    await page.getByText('There is no agent').waitFor();
  });

  test('is reached from the graph and the lanes', async () => {
    await beginTurn(api, 'team', 'ben');
    const page = await open('/p/team');
    await page
      .getByRole('region', { name: 'Team' })
      .getByRole('link', { name: /^Benn?y?/ })
      .first()
      .click();
    await page.waitForURL(/\/p\/team\/agents\/ben$/);
    await page.getByText(/^Turn \d+ was running/).waitFor();
    await page.goBack();
    await page.getByRole('region', { name: 'Turns' }).getByRole('link', { name: 'Benny', exact: true }).click();
    await page.waitForURL(/\/p\/team\/agents\/ben$/);
  });
});

/** The pages, each with what is on it when it has been read. */
const pages = [
  ['/mail', '#team'],
  ['/mail/2', 'The south gauge, please.'],
  ['/mail?q=gauge', 'The south'],
  ['/tasks', 'Read the north gauge.'],
  ['/agents', 'Benny'],
  ['/agents/ben', 'What it remembers'],
] as const;

test('mail, tasks and agents are for everybody', async () => {
  const page = await open('/p/team/mail', { viewport: desk });
  for (const [path, text] of pages) {
    await go(page, `/p/team${path}`);
    await page.locator('main').getByText(text).last().waitFor();
    expect({ path, violations: await violations(page) }).toEqual({ path, violations: [] });
  }
});

test('they fit a phone', async () => {
  const page = await open('/p/team/mail', { viewport: phone });
  for (const [path, text] of pages) {
    await go(page, `/p/team${path}`);
    await page.locator('main').getByText(text).last().waitFor();
    const width = await page.evaluate<number>('document.documentElement.scrollWidth');
    expect({ path, isWider: width > phone.width }).toEqual({ path, isWider: false });
  }
});
