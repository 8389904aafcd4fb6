import { setTimeout as sleep } from 'node:timers/promises';
import { afterAll, beforeAll, describe, expect, test } from '@jest/globals';
import type { Page } from 'playwright-core';
import { type TestApi, testApi } from '../../services/api/test/support/api.js';
import { failTurn, publish, submit } from '../../services/api/test/support/play.js';
import { linkFor } from '../../services/api/test/support/sign-in.js';
import { teamYaml } from '../../test/support/cell.js';
import { eventually, soon } from '../../test/support/poll.js';
import { desk, go, phone, testBrowser, violations } from './support/browser.js';

const browser = testBrowser();
let api: TestApi;
beforeAll(async () => {
  api = await testApi();
  const team = (name: string) => `${teamYaml.replace('name: team', `name: ${name}`)}\nturn: { maxAttempts: 1 }`;
  for (const name of ['river', 'tides']) await api.create(team(name));
  await failTurn(api, 'river', 'ben');
  await submit(api, 'tides', 'ada', '# Tides\n');
  await publish(api, 'river', 'ada', { name: 'north gauge.csv', content: Buffer.from('1,2\n') });
});
afterAll(() => api.close());

async function open(path: string, options: Parameters<typeof browser.open>[0] = { viewport: desk }, token?: string) {
  const page = await browser.page(await browser.open(options));
  await page.goto((await linkFor(api, { path }, token)).url);
  await page.getByRole('navigation', { name: 'Suzumio' }).waitFor();
  return page;
}

const dialog = (page: Page) => page.getByRole('dialog');
const title = (page: Page, name: string | RegExp) => page.getByRole('heading', { name, level: 1 });
const path = (page: Page) => new URL(page.url()).pathname;
const focused = (page: Page) => page.evaluate<string>('document.activeElement.textContent');
const press = async (page: Page, ...keys: string[]) => {
  for (const key of keys) await page.keyboard.press(key);
};

describe('keys', () => {
  test('go to pages, move through lists, and are all in the help, those of the page first', async () => {
    const page = await open('/');
    await title(page, 'Inbox').waitFor();
    await press(page, 'g', 'p');
    await title(page, 'Projects').waitFor();
    await page.getByRole('link', { name: 'river' }).first().waitFor();
    await press(page, 'j', 'j');
    await soon(async () => expect(await focused(page)).toBe('river'));
    await press(page, 'k');
    await soon(async () => expect(await focused(page)).toBe('tides'));
    await press(page, 'Enter');
    await title(page, 'tides').waitFor();
    await press(page, 'w');
    await page.waitForURL(/\/p\/tides\/agents$/);
    await press(page, '?');
    const here = dialog(page).getByRole('region', { name: 'On this page' });
    await here.getByText('Move down').waitFor();
    expect(await here.getByText('Write mail').count()).toBe(0);
    await dialog(page).getByRole('region', { name: 'On other pages' }).getByText('Write mail: a project').waitFor();
    // Nothing is done behind the help.
    await press(page, 'g', 's', 'w');
    expect(path(page)).toBe('/p/tides/agents');
    expect(await violations(page)).toEqual([]);
    await press(page, 'Escape', 'g', 's');
    await title(page, 'System').waitFor();
    await press(page, 'g', 'x', 'i');
    expect(path(page)).toBe('/system');
    await press(page, 'g', 'i');
    await title(page, 'Inbox').waitFor();
  });

  test('hold from the moment in which a dialog is closed, before the page is drawn without it', async () => {
    const page = await open('/');
    await title(page, 'Inbox').waitFor();
    await press(page, '?');
    await dialog(page).getByRole('button', { name: 'Close' }).focus();
    await page.evaluate(`{
      document.querySelector('dialog').close();
      const pressed = new KeyboardEvent('keydown', { key: 'g', code: 'KeyG', bubbles: true, composed: true });
      document.activeElement.dispatchEvent(pressed);
    }`);
    await press(page, 's');
    await title(page, 'System').waitFor();
  });

  test('look, and lead to why and to what filters', async () => {
    const page = await open('/p/tides');
    await page.getByRole('link', { name: /Look and decide/ }).waitFor();
    await press(page, 'o');
    await page.getByRole('heading', { name: 'Tides' }).waitFor();
    await go(page, '/');
    await page.getByRole('link', { name: /Benny failed/ }).click();
    await press(page, 'w');
    await page.waitForURL(/\/p\/river\/agents\/ben$/);
    await go(page, '/p/river/turns/ben:1');
    await title(page, /turn 1/i).waitFor();
    await press(page, 'w');
    await page.waitForURL(/\/p\/river\/agents\/ben$/);
    await go(page, '/p/river/mail');
    await page.getByRole('searchbox', { name: 'Search mail' }).waitFor();
    await press(page, '/', 'g', 'i', '?');
    await soon(async () => {
      expect(await page.getByRole('searchbox', { name: 'Search mail' }).inputValue()).toBe('gi?');
    });
  });

  test('write text in fields and in the editor, and do nothing where they are turned off', async () => {
    const page = await open('/new');
    const editor = page.getByRole('textbox', { name: /file/i }).first();
    await editor.waitFor();
    await editor.focus();
    await press(page, 'g', 'i', '?');
    expect([path(page), await dialog(page).count()]).toEqual(['/new', 0]);
    await go(page, '/projects');
    await title(page, 'Projects').waitFor();
    await press(page, '?');
    await dialog(page).getByRole('button', { name: 'Turn keys off' }).click();
    await dialog(page).getByText('Single keys are off').waitFor();
    await press(page, 'Escape', 'g', 'i', '?');
    expect([path(page), await dialog(page).count()]).toEqual(['/projects', 0]);
  });
});

describe('the palette', () => {
  const option = (page: Page, name: string | RegExp) => page.getByRole('option', { name });
  const chosen = (page: Page) => page.locator('[role=option][aria-selected=true]').textContent();

  test('goes to pages, projects, agents, turns and files, by keys alone', async () => {
    const page = await open('/');
    const write = async (text: string) => {
      await press(page, 'Control+k');
      await page.getByRole('combobox', { name: /^Where to go/ }).fill(text);
    };
    await write('riv');
    await option(page, /^river/).waitFor();
    await soon(async () =>
      expect(await page.getByRole('combobox', { name: /^Where to go/ }).getAttribute('aria-activedescendant')).toBe(
        await option(page, /^river/).getAttribute('id'),
      ),
    );
    await press(page, 'Enter');
    await title(page, 'river').waitFor();
    await write('benny');
    await option(page, /^Benny reader/).waitFor();
    await option(page, /^Benny, turn 1 failed/).waitFor();
    await press(page, 'ArrowDown');
    await soon(async () => expect(await chosen(page)).toMatch(/^Benny, turn 1/));
    await press(page, 'Enter');
    await page.waitForURL(/\/turns\/ben:1$/);
    await write('north gauge');
    await option(page, /^north gauge\.csv by ada/).waitFor();
    await press(page, 'Enter');
    await page.waitForURL(/\/p\/river\/files\/art_/);
    await write('log');
    await option(page, /^Log of river/).waitFor();
    await press(page, 'Enter');
    await page.waitForURL(/\/p\/river\/log$/);
    // Words that nothing here has lead to the search; what it finds of other projects stands below that.
    await write('tides "north gauge');
    await soon(async () => expect(await chosen(page)).toBe('Search everything for “tides "north gauge”'));
    await go(page, '/p/tides');
    await title(page, 'tides').waitFor();
    await write('north');
    await option(page, /^north gauge\.csv river, by ada/).waitFor();
    await press(page, 'Escape');
    await dialog(page).waitFor({ state: 'detached' });
    await write('Do the work');
    await press(page, 'Enter');
    await page.waitForURL(/\/search\?q=Do%20the%20work|\/search\?q=Do\+the\+work/);
    browser.expectErrors(/status of 400/);
  });

  test('takes what is typed right after it was opened, also where the server answers late', async () => {
    const page = await open('/p/river');
    await page.getByRole('button', { name: /^Pause/ }).waitFor();
    await page.route('**/assets/**', async (route) => {
      await sleep(700);
      await route.continue();
    });
    await page.keyboard.press('Control+k');
    await page.keyboard.type('tides ?pgi');
    await soon(async () =>
      expect(await page.getByRole('combobox', { name: /^Where to go/ }).inputValue()).toBe('tides ?pgi'),
    );
    expect([
      path(page),
      (await api.rows('river', `SELECT 1 FROM events WHERE type = 'project.paused'`)).length,
    ]).toEqual(['/p/river', 0]);
  });

  test('goes to the project whose name was typed, also where projects are read only after Enter', async () => {
    const page = await open('/system');
    const late = Promise.withResolvers<undefined>();
    await page.route('**/api/projects?*', async (route) => {
      await late.promise;
      await route.continue();
    });
    await page.reload();
    await title(page, 'System').waitFor();
    await press(page, 'Control+k');
    await page.getByRole('combobox', { name: /^Where to go/ }).fill('river');
    await press(page, 'Enter');
    await page.getByText('Projects are still being read.').waitFor();
    late.resolve(undefined);
    await title(page, 'river').waitFor();
    expect(path(page)).toBe('/p/river');
  });

  test('opens again in the moment in which it was closed', async () => {
    const page = await open('/projects');
    await title(page, 'Projects').waitFor();
    await press(page, 'Control+k');
    const field = page.getByRole('combobox', { name: /^Where to go/ });
    await field.fill('riv');
    // The browser tells that a dialog was closed after that, and a key may come between.
    await page.evaluate(`
      document.querySelector('dialog[open]').close();
      dispatchEvent(new KeyboardEvent('keydown', { key: 'k', code: 'KeyK', ctrlKey: true, cancelable: true }));
    `);
    await soon(async () => expect(await field.inputValue()).toBe(''));
    await page.evaluate('new Promise((resolve) => setTimeout(resolve, 200))');
    expect(await field.isVisible()).toBe(true);
  });

  test('does what state and scope allow on the page, and nothing else', async () => {
    const page = await open('/p/river');
    await page.getByRole('button', { name: /^Pause/ }).waitFor();
    await press(page, 'Control+k');
    await option(page, /^Write mail/).waitFor();
    await option(page, /^Delete… river: Removes everything/).waitFor();
    expect(await option(page, /^Approve/).count()).toBe(0);
    // Nothing is chosen before anything is written.
    expect(await page.locator('[role=option][aria-selected=true]').count()).toBe(0);
    await page.getByRole('combobox', { name: /^Where to go/ }).fill('write mail');
    await press(page, 'Enter');
    await soon(async () => expect(await page.evaluate('document.activeElement.tagName')).toBe('TEXTAREA'));
    // What ends something is only shown.
    await press(page, 'Control+k');
    await page.getByRole('combobox', { name: /^Where to go/ }).fill('stop');
    await press(page, 'Enter');
    await soon(async () => expect(await focused(page)).toBe('Stop'));
    await press(page, 'Escape', 'Control+k');
    await page.getByRole('combobox', { name: /^Where to go/ }).fill('pause');
    await press(page, 'Enter');
    await page.getByRole('button', { name: 'Resume', exact: true }).waitFor();
    await press(page, 'Control+k');
    await page.getByRole('combobox', { name: /^Where to go/ }).fill('delete');
    await press(page, 'Enter');
    await dialog(page).getByRole('heading', { name: /river/ }).waitFor();
    // It opens over nothing that is asked.
    await press(page, 'Control+k');
    expect(await page.getByRole('combobox', { name: /^Where to go/ }).count()).toBe(0);

    const reader = await open('/p/river', { viewport: phone }, await api.token('read'));
    await title(reader, 'river').waitFor();
    await reader.getByRole('button', { name: 'Find' }).click();
    await option(reader, /^See why/).waitFor();
    expect(await option(reader, /^(Write mail|Pause|Resume|Delete)/).count()).toBe(0);
    expect(await violations(reader)).toEqual([]);
    expect(await reader.evaluate<number>('document.documentElement.scrollWidth')).toBeLessThanOrEqual(phone.width);
    const box = await dialog(reader).boundingBox();
    expect(box && box.x >= 0 && box.x + box.width <= phone.width).toBe(true);
    await option(reader, /^Projects/).click();
    await title(reader, 'Projects').waitFor();
  });
});

describe('what waits', () => {
  /** A browser whose notifications are kept on the page that shows them. */
  const stubbed = `
    window.shown = []; window.asked = 0;
    window.Notification = class {
      static permission = localStorage.getItem('granted') ?? 'default';
      static async requestPermission() {
        window.asked += 1; localStorage.setItem('granted', 'granted');
        return (window.Notification.permission = 'granted');
      }
      constructor(title, options) { window.shown.push([title, options.body, this]); }
      close() {}
    };
    document.hasFocus = () => false;`;
  const told = (page: Page) => page.evaluate<string[][]>('shown.map(([title, body]) => [title, body])');

  test('stands in the title of every page', async () => {
    const page = await open('/projects');
    for (const path of ['/projects', '/p/river/log', '/p/river/turns/ben:1', '/system', '/']) {
      await page.goto(`${api.url}${path}`);
      await eventually('the title counts', async () => /^\(\d+\) .+ · Suzumio$/.test(await page.title()), {
        show: () => page.title(),
      });
    }
    expect(await page.title()).toMatch(/^\(\d+\) Inbox · Suzumio$/);
  });

  test('is told by one tab, once it was asked for by a click, without what agents wrote', async () => {
    const context = await browser.open({ viewport: desk });
    await context.addInitScript(stubbed);
    const [one, other] = [await browser.page(context), await browser.page(context)];
    await one.goto((await linkFor(api, { path: '/' })).url);
    await title(one, 'Inbox').waitFor();
    await other.goto(`${api.url}/projects`);
    await title(other, 'Projects').waitFor();
    expect(await one.evaluate('asked')).toBe(0);
    await one.getByRole('button', { name: 'Notify me' }).click();
    await one.getByRole('button', { name: 'Turn notifications off' }).waitFor();
    expect([await one.evaluate('asked'), await told(one)]).toEqual([
      1,
      [['Notifications are on', 'New items in your inbox are shown like this.']],
    ]);
    await api.create(`${teamYaml.replace('name: team', 'name: shoal')}\nturn: { maxAttempts: 1 }`);
    await failTurn(api, 'shoal', 'ben');
    await one
      .getByRole('link', { name: /Benny failed/ })
      .nth(1)
      .waitFor();
    await eventually('it is told', async () => [...(await told(one)), ...(await told(other))].length === 2);
    expect((await told(one))[1]).toEqual([expect.stringMatching(/^Benny failed in turn 1/), 'shoal']);
    await one.evaluate('shown[1][2].onclick()');
    await one.waitForURL(/\/inbox\/shoal/);
    await one.getByRole('button', { name: 'Turn notifications off' }).click();
    await submit(api, 'shoal', 'ada', '# Shoal\n');
    await one
      .getByRole('link', { name: /The report is submitted/ })
      .nth(1)
      .waitFor();
    expect([(await told(one)).length, (await told(other)).length]).toEqual([2, 0]);
    await context.close();
  });
});

describe('the setup of a project', () => {
  test('is shown as it was given beside what it was resolved to, without secrets', async () => {
    const secret = 'hunter2';
    await api.create(`# For the river, 2026
${teamYaml.replace('name: team', 'name: delta').replace('prompt: Write.', `prompt: Write., env: { TOKEN: ${secret} }`)}`);
    const page = await open('/p/delta/setup');
    const given = page.getByRole('group', { name: 'The project file' });
    await given.getByText('# For the river, 2026').waitFor();
    await page.getByText(/^version 1, /).waitFor();
    await page.getByRole('region', { name: 'backend', exact: true }).last().waitFor();
    expect(await page.locator('#content').textContent()).not.toContain(secret);
    expect(await given.textContent()).toContain('env: { TOKEN: hidden }');
    expect(await violations(page)).toEqual([]);
    await page.setViewportSize(phone);
    await page.getByRole('button', { name: 'As it was resolved' }).click();
    await page.waitForURL(/\?show=resolved$/);
    await given.waitFor({ state: 'detached' });
    expect(await page.evaluate<number>('document.documentElement.scrollWidth')).toBeLessThanOrEqual(phone.width);
    expect(await violations(page)).toEqual([]);
  });

  test('and the filter of the newest mail is in the address', async () => {
    const page = await open('/p/river?mail=you');
    const which = page.getByRole('group', { name: 'Which mail' });
    expect(await which.getByRole('button', { pressed: true }).textContent()).toBe('To you');
    await which.getByRole('button', { name: 'Unread' }).click();
    await page.waitForURL(/\?mail=unread$/);
    await which.getByRole('button', { name: 'All' }).click();
    await page.waitForURL(/\/p\/river$/);
  });
});
