import { mkdtemp, open as openFile, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import { afterAll, beforeAll, describe, expect, test } from '@jest/globals';
import type { Locator, Page } from 'playwright-core';
import { type TestApi, testApi } from '../../services/api/test/support/api.js';
import { linkFor } from '../../services/api/test/support/sign-in.js';
import { postMessage } from '@suzumio/store/mail/post-message';
import { teamYaml } from '../../test/support/cell.js';
import { freePort } from '../../test/support/free-port.js';
import { eventually, soon } from '../../test/support/poll.js';
import { desk, go, phone, testBrowser, violations } from './support/browser.js';

const browser = testBrowser();
let api: TestApi;
let files: string;
beforeAll(async () => {
  api = await testApi({ port: await freePort() });
  await api.create();
  await api.create(teamYaml.replace('name: team', 'name: later'), { start: false });
  const teams = teamYaml
    .replace('role: writer', 'role: writer, team: north')
    .replace('role: reader', 'role: reader, team: north');
  await api.create(teams.replace('name: team', 'name: coast'));
  await api.write('team', (tx) => {
    postMessage(tx, { sender: 'user', recipient: 'ben', body: 'The bulletin, please.', priority: 'P1', actor: 'test' });
    postMessage(tx, { sender: 'ada', recipient: 'user', body: 'Which gauge?', priority: 'P1', actor: 'test' });
  });
  files = await mkdtemp(join(tmpdir(), 'suzumio-compose-'));
  await writeFile(join(files, 'south.csv'), '18:00,2.9\n');
  await writeFile(join(files, 'empty.csv'), '');
  const large = await openFile(join(files, 'large.bin'), 'w');
  await large.truncate(256 * 1024 * 1024 + 1);
  await large.close();
});
afterAll(async () => {
  await api.close();
  await rm(files, { recursive: true, force: true });
});

async function open(path: string, options: Parameters<typeof browser.open>[0] = { viewport: desk }, token?: string) {
  const page = await browser.page(await browser.open(options));
  await page.goto((await linkFor(api, { path }, token)).url);
  await page.getByRole('heading', { level: 1 }).first().waitFor();
  return page;
}

const text = (page: Page) => page.getByRole('textbox', { name: /^Write to/ });
const attached = (page: Page) => page.getByRole('list', { name: 'Attached files' }).getByRole('listitem');
const send = (page: Page) => page.getByRole('button', { name: /^Send/ });

interface Message {
  sender: string;
  body: string;
  priority: string;
  recipient: string | null;
  channel: string | null;
  threadId: string;
  recipients: { agent: string }[];
  attachments: { name: string; sizeBytes: number }[];
}

async function sentAs(body: string, project = 'team'): Promise<Message[]> {
  const { json } = await api.get(`/api/projects/${project}/messages?order=desc&limit=50`);
  return (json as { items: Message[] }).items.filter((message) => message.body === body);
}

const arrives = (body: string, project?: string) =>
  eventually(`"${body}" arrives`, async () => (await sentAs(body, project)).length > 0, {});

/** Pastes or drops a file of this name and content. */
async function give(field: Locator, kind: 'paste' | 'drop', name: string, content: string) {
  const source = `(element) => {
    const data = new DataTransfer();
    data.items.add(new File([${JSON.stringify(content)}], ${JSON.stringify(name)}, { lastModified: 1 }));
    element.dispatchEvent(${
      kind === 'paste'
        ? "new ClipboardEvent('paste', { clipboardData: data, bubbles: true, cancelable: true })"
        : "new DragEvent('drop', { dataTransfer: data, bubbles: true, cancelable: true })"
    });
  }`;
  await field.evaluate(`(${source})(document.activeElement)`);
}

/** Where what can be seen of a form ends, and where its button does. */
const seenOf = (page: Page) =>
  page.evaluate<{ field: number; button: number; end: number; top: number }>(`(() => {
    const bar = document.querySelector('.rail');
    const isBar = bar.checkVisibility() && getComputedStyle(bar).position === 'fixed';
    const seen = visualViewport.offsetTop + visualViewport.height;
    const form = document.activeElement.closest('form');
    const button = [...form.querySelectorAll('button:not([type="button"])')].at(-1).getBoundingClientRect();
    const field = document.activeElement.getBoundingClientRect();
    return { top: form.getBoundingClientRect().top, field: field.bottom, button: button.bottom, end: isBar ? Math.min(seen, bar.getBoundingClientRect().top) : seen };
  })()`);

/** A keyboard on the screen: some browsers make the page smaller for it, in others it covers a part of it. */
const keyboards: readonly (readonly [string, (page: Page) => Promise<unknown>])[] = [
  ['makes the page smaller', (page) => page.setViewportSize({ width: phone.width, height: 430 })],
  [
    'covers a part of it',
    (page) =>
      page.evaluate(`Object.defineProperty(visualViewport, 'height', { get: () => 430, configurable: true });
        visualViewport.dispatchEvent(new Event('resize'))`),
  ],
];

describe('on a phone, where a keyboard', () => {
  test.each(keyboards)('%s, each form is whole above what covers it', async (_name, raise) => {
    for (const path of ['/p/team', '/p/team/mail/2', '/p/team/mail/new', '/inbox/LETTER']) {
      const { json } = await api.get('/api/inbox?kind=message');
      const [item] = (json as { items: { id: string }[] }).items;
      const page = await open(path.replace('LETTER', encodeURIComponent(item?.id ?? '')), { viewport: phone });
      const field = text(page);
      await field.waitFor();
      if (path !== '/p/team') {
        const [box, bar] = [await send(page).boundingBox(), await page.locator('.rail').boundingBox()];
        expect({ path, isAbove: (box?.y ?? 0) + (box?.height ?? 0) <= (bar?.y ?? 0) }).toEqual({ path, isAbove: true });
      }
      await field.focus();
      await raise(page);
      await soon(async () => {
        const { top, field: end, button, end: seen } = await seenOf(page);
        expect({ path, isWhole: top >= 0 && end <= seen && button <= seen, top, button, seen }).toMatchObject({
          path,
          isWhole: true,
        });
      });
      // What removes is not what is pressed by mistake.
      expect(await page.getByRole('button', { name: 'Remove its text…' }).filter({ visible: true }).count()).toBe(0);
      await page.context().close();
    }
  });
});

describe('a letter', () => {
  test('goes with files that were chosen, pasted and dropped, and stands in the mail once', async () => {
    const page = await open('/p/team');
    await text(page).waitFor();
    await page.keyboard.press('m');
    await expectFocus(page, 'Write to Benny');
    await page.keyboard.type('Three gauges.');
    await page.locator('input[type=file]').setInputFiles(join(files, 'south.csv'));
    await text(page).focus();
    await give(text(page), 'paste', 'north.csv', '18:00,3.1\n');
    await give(text(page), 'drop', 'west.csv', '18:00,1.2\n');
    await eventually('three are attached', async () => (await attached(page).count()) === 3, {});
    expect(await attached(page).allInnerTexts()).toEqual([
      expect.stringMatching(/south\.csv\s+10 B/),
      expect.stringMatching(/north\.csv\s+10 B/),
      expect.stringMatching(/west\.csv\s+10 B/),
    ]);
    await page.getByRole('button', { name: 'Remove west.csv' }).click();
    await give(text(page), 'drop', 'east.csv', '18:00,1.20\n');
    await attached(page).filter({ hasText: 'east.csv' }).waitFor();
    await page.getByRole('combobox', { name: 'Priority' }).selectOption('P0');
    await page.getByRole('combobox', { name: 'To' }).selectOption({ label: 'To #team' });
    await text(page).press('Control+Enter');
    await page.getByText('Sent to #team.').waitFor();
    expect(await sentAs('Three gauges.')).toEqual([
      expect.objectContaining({
        channel: '#team',
        priority: 'P0',
        attachments: ['south.csv', 'north.csv', 'east.csv'].map((name) => expect.objectContaining({ name })),
      }),
    ]);
    await page.getByRole('link', { name: /east\.csv/ }).waitFor();
    expect(await page.getByText('Three gauges.').count()).toBe(1);
    expect(await text(page).inputValue()).toBe('');
    expect(await attached(page).count()).toBe(0);
    const artifacts = (await api.get('/api/projects/team/artifacts?creator=user')).json as {
      items: { name: string }[];
    };
    expect(artifacts.items.map(({ name }) => name).sort()).toEqual(['east.csv', 'north.csv', 'south.csv']);
  });

  test('goes to a team and to all, and stands in the mail at once, before the server has answered', async () => {
    const page = await open('/p/coast');
    await text(page).waitFor();
    const held = Promise.withResolvers<undefined>();
    await page.route('**/api/projects/coast/broadcasts', async (route) => {
      await held.promise;
      await route.continue();
    });
    await page.getByRole('combobox', { name: 'To' }).selectOption({ label: 'To north, a team of 2' });
    await page.getByText('Wakes everybody in north.').waitFor();
    await text(page).fill('To the north.');
    await send(page).click();
    const letter = page.getByRole('article').filter({ hasText: 'To the north.' });
    await letter.getByText('is sent', { exact: true }).waitFor();
    expect([await letter.count(), await text(page).inputValue(), await sentAs('To the north.', 'coast')]).toEqual([
      1,
      '',
      [],
    ]);
    held.resolve(undefined);
    await page.getByText('Sent to north.').waitFor();
    await letter.getByText('is sent', { exact: true }).waitFor({ state: 'detached' });
    await page.getByRole('combobox', { name: 'To' }).selectOption({ label: 'To all agents' });
    await text(page).fill('To everybody.');
    await send(page).click();
    await page.getByText('Sent to all agents.').waitFor();
    const readers = async (body: string) =>
      (await sentAs(body, 'coast')).flatMap(({ recipients }) => recipients.map(({ agent }) => agent));
    expect([await readers('To the north.'), await readers('To everybody.')]).toEqual([
      ['ada', 'ben'],
      ['ada', 'ben', 'cat'],
    ]);
    await soon(async () =>
      expect([
        await letter.count(),
        await page.getByRole('article').filter({ hasText: 'To everybody.' }).count(),
      ]).toEqual([1, 1]),
    );
  });

  test('takes what is typed right after M, also where the server answers late', async () => {
    const page = await open('/');
    await page.route('**/assets/composer-*.js', async (route) => {
      await sleep(2_000);
      await route.continue();
    });
    for (const path of ['/p/coast', '/p/coast/mail']) {
      await page.goto(api.url + path);
      await page.getByRole('button', { name: /^Pause/ }).waitFor();
      await page.keyboard.press('m');
      await page.keyboard.type('please');
      await soon(async () => expect(await text(page).inputValue()).toBe('please'));
      await text(page).fill('');
    }
    expect(await api.rows('coast', `SELECT type FROM events WHERE type LIKE 'project.pause%'`)).toEqual([]);
  });

  test('outlives the session in which it was written, and a reload after that', async () => {
    const token = async () =>
      (await api.cell.catalog.tokens.create({ name: 'yuki', scope: 'mail', actor: 'test' })).secret;
    const page = await open('/p/team/mail/new', { viewport: desk }, await token());
    await page.getByRole('form').getByRole('combobox', { name: 'To' }).selectOption({ label: 'To Benny, reader' });
    await text(page).fill('Half of it');
    await api.call('DELETE', '/api/tokens/yuki');
    const over = page.getByRole('dialog', { name: 'Sign in' });
    await over.getByText('The page of yuki stays as it is').waitFor();
    await over.getByLabel('Link').fill((await linkFor(api, {}, await token())).url);
    await page.keyboard.press('Enter');
    await over.waitFor({ state: 'detached' });
    await expectFocus(page, 'Write to Benny');
    await page.keyboard.press('End');
    await page.keyboard.type(', and the rest.');
    await page.reload();
    await soon(async () => expect(await text(page).inputValue()).toBe('Half of it, and the rest.'));
    await send(page).click();
    await page.waitForURL(/\/mail\/\d+$/);
    await page.getByRole('article').filter({ hasText: 'Half of it, and the rest.' }).waitFor();
    expect(await sentAs('Half of it, and the rest.')).toEqual([expect.objectContaining({ recipient: 'ben' })]);
    browser.expectErrors(/status of 401/);
  });

  test('answers another in its thread, from the mail and from where it is listed', async () => {
    const page = await open('/p/team');
    await page.getByRole('button', { name: 'Reply to message 2' }).click();
    await page.getByText('Answers ada: Which gauge?').waitFor();
    await expectFocus(page, 'Write to ada');
    await page.keyboard.type('The southern one.');
    await page.keyboard.press('Control+Enter');
    await page.getByText('Sent to ada.').waitFor();
    const [answer] = await sentAs('The southern one.');
    expect(answer).toMatchObject({ recipient: 'ada' });
    await go(page, '/p/team/mail/2');
    const thread = page.getByRole('region', { name: 'Thread', exact: true });
    await thread.getByText('The southern one.').waitFor();
    await text(page).fill('And the northern one.');
    await send(page).click();
    await thread.getByRole('article').filter({ hasText: 'And the northern one.' }).waitFor();
    await page.getByText('Sent to ada.').waitFor();
    expect(await sentAs('And the northern one.')).toEqual([expect.objectContaining({ threadId: answer?.threadId })]);
    await soon(async () => {
      expect(await thread.getByText('And the northern one.').count()).toBe(1);
    });
  });

  test('is kept while it is written, and says what is wrong with its files where they are', async () => {
    const page = await open('/p/team/mail');
    await page.getByRole('link', { name: 'Write', exact: true }).click();
    await expectFocus(page, 'Write to ada');
    await text(page).fill('Not yet done.');
    await page.getByRole('form').getByRole('combobox', { name: 'To' }).selectOption({ label: 'To Benny, reader' });
    const choose = (name: string) => page.locator('input[type=file]').setInputFiles(join(files, name));
    await choose('empty.csv');
    await page.getByText('empty.csv is not attached: it is empty, with 0 bytes.').waitFor();
    await choose('large.bin');
    await page
      .getByText(/large\.bin is not attached: it has 268\.4 MB, and a file may have 268,435,456 bytes/)
      .waitFor();
    await choose('south.csv');
    await attached(page).filter({ hasText: 'south.csv' }).waitFor();
    await choose('south.csv');
    await page.getByText('south.csv is attached already.').waitFor();
    expect(await attached(page).count()).toBe(1);
    await page.reload();
    await page.getByText('choose it again').waitFor();
    expect(await text(page).inputValue()).toBe('Not yet done.');
    await text(page).press('Control+Enter');
    await page.getByText('south.csv was attached before the page was loaded anew.').waitFor();
    await choose('south.csv');
    await eventually('it is there again', async () => (await page.getByText('choose it again').count()) === 0, {});
    await page.getByRole('link', { name: 'Now', exact: true }).click();
    await soon(async () => {
      expect(await text(page).inputValue()).toBe('Not yet done.');
    });
    await text(page).press('Control+Enter');
    await page.getByText('Sent to Benny.').waitFor();
    expect(await sentAs('Not yet done.')).toEqual([
      expect.objectContaining({ recipient: 'ben', attachments: [expect.objectContaining({ name: 'south.csv' })] }),
    ]);
    await page.reload();
    await text(page).waitFor();
    expect(await text(page).inputValue()).toBe('');
  });

  test('arrives once where its answer is lost, and after the server was away', async () => {
    const page = await open('/p/team');
    await text(page).waitFor();
    let lost = 0;
    await page.route('**/api/projects/team/messages', async (route) => {
      if (route.request().method() !== 'POST' || lost >= 1) return route.continue();
      lost += 1;
      await route.fetch();
      return route.abort('connectionreset');
    });
    await text(page).fill('Only once.');
    await send(page).click();
    await page.getByText('Sent to').waitFor({ state: 'attached' });
    expect(lost).toBe(1);
    expect(await sentAs('Only once.')).toHaveLength(1);
    await soon(async () => {
      expect(await page.getByText('Only once.').count()).toBe(1);
    });
    await page.unroute('**/api/projects/team/messages');

    await api.api.stop();
    await text(page).fill('While it is away.');
    await text(page).press('Control+Enter');
    await page.getByText('not sent yet, is tried again').waitFor();
    await page.getByRole('button', { name: 'Stop trying' }).click();
    await soon(async () => {
      expect(await text(page).inputValue()).toBe('While it is away.');
    });
    await text(page).press('Control+Enter');
    await page.getByText('not sent yet, is tried again').waitFor();
    await api.api.start();
    await arrives('While it is away.');
    await page.getByText('not sent yet, is tried again').waitFor({ state: 'detached' });
    await eventually('it is shown once', async () => (await page.getByText('While it is away.').count()) === 1, {});
    expect(await sentAs('While it is away.')).toHaveLength(1);
    await soon(async () => {
      expect(await text(page).inputValue()).toBe('');
    });
    browser.expectErrors(/ERR_|Failed to load/);
  });

  test('that is refused is a draft again, with the words of the server', async () => {
    const page = await open('/p/later');
    await page.getByText("It waits in ada's inbox until later is started.").waitFor();
    await text(page).fill('For the day on which you start.');
    await send(page).click();
    await arrives('For the day on which you start.', 'later');
    await page.route('**/api/projects/later/messages', (route) =>
      route.request().method() === 'POST'
        ? route.fulfill({
            status: 404,
            contentType: 'application/problem+json',
            body: JSON.stringify({ code: 'project-unknown', detail: 'There is no project "later".' }),
          })
        : route.continue(),
    );
    await text(page).fill('Too late.');
    await send(page).click();
    await page.getByText('Not sent: There is no project "later".').waitFor();
    expect(await text(page).inputValue()).toBe('Too late.');
    browser.expectErrors(/404/);
  });
});

test('somebody who may only read is shown no place to write', async () => {
  const page = await open('/p/team/mail/2', { viewport: desk }, await api.token('read'));
  await page.getByText(/^suzumio reply team/).waitFor();
  expect(await text(page).count()).toBe(0);
  expect(await page.getByRole('button', { name: /Reply/ }).count()).toBe(0);
  expect(await page.getByRole('link', { name: /^Write/ }).count()).toBe(0);
});

test('writing is for everybody', async () => {
  const page = await open('/p/team', { viewport: desk });
  for (const path of ['/p/team', '/p/team/mail/new', '/p/team/mail/2']) {
    await page.goto(`${api.url}${path}`);
    await text(page).fill('Something.');
    await page.locator('input[type=file]').setInputFiles(join(files, 'empty.csv'));
    await page.getByText('it is empty').waitFor();
    await page.locator('input[type=file]').setInputFiles(join(files, 'south.csv'));
    await attached(page).first().waitFor();
    expect({ path, violations: await violations(page) }).toEqual({ path, violations: [] });
  }
  await page.setViewportSize(phone);
  const width = await page.evaluate<number>('document.documentElement.scrollWidth');
  expect(width).toBeLessThanOrEqual(phone.width);
});

async function expectFocus(page: Page, name: string) {
  await page.getByRole('textbox', { name }).and(page.locator(':focus')).waitFor();
}
