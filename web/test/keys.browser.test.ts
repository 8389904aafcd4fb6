import { afterAll, beforeAll, describe, expect, test } from '@jest/globals';
import type { Page } from 'playwright-core';
import { type TestApi, testApi } from '../../services/api/test/support/api.js';
import { failTurn, submit } from '../../services/api/test/support/play.js';
import { linkFor } from '../../services/api/test/support/sign-in.js';
import { teamYaml } from '../../test/support/cell.js';
import { desk, testBrowser, violations } from './support/browser.js';

const browser = testBrowser();
let api: TestApi;
beforeAll(async () => {
  api = await testApi();
  const team = (name: string) => `${teamYaml.replace('name: team', `name: ${name}`)}\nturn: { maxAttempts: 1 }`;
  for (const name of ['river', 'tides']) await api.create(team(name));
  await failTurn(api, 'river', 'ben');
  await submit(api, 'tides', 'ada', '# Tides\n');
});
afterAll(() => api.close());

async function open(path: string, options: Parameters<typeof browser.open>[0] = { viewport: desk }, token?: string) {
  const page = await browser.page(await browser.open(options));
  await page.goto((await linkFor(api, { path }, token)).url);
  await page.getByRole('navigation', { name: 'Suzumio' }).waitFor();
  return page;
}

const dialog = (page: Page) => page.getByRole('dialog');
const title = (page: Page, name: string) => page.getByRole('heading', { name, level: 1 });
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
    expect(await focused(page)).toBe('river');
    await press(page, 'k');
    expect(await focused(page)).toBe('tides');
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

  test('look, and lead to why and to what filters', async () => {
    const page = await open('/p/tides');
    await page.getByRole('link', { name: /Look and decide/ }).waitFor();
    await press(page, 'o');
    await page.getByRole('heading', { name: 'Tides' }).waitFor();
    await page.goto(`${api.url}/`);
    await page.getByRole('link', { name: /ben failed/ }).click();
    await press(page, 'w');
    await page.waitForURL(/\/p\/river\/agents\/ben$/);
    await page.goto(`${api.url}/p/river/mail`);
    await page.getByRole('searchbox', { name: 'Search mail' }).waitFor();
    await press(page, '/', 'g', 'i', '?');
    expect(await page.getByRole('searchbox', { name: 'Search mail' }).inputValue()).toBe('gi?');
  });

  test('write text in fields and in the editor, and do nothing where they are turned off', async () => {
    const page = await open('/new');
    const editor = page.getByRole('textbox', { name: /file/i }).first();
    await editor.waitFor();
    await editor.focus();
    await press(page, 'g', 'i', '?');
    expect([path(page), await dialog(page).count()]).toEqual(['/new', 0]);
    await page.goto(`${api.url}/projects`);
    await title(page, 'Projects').waitFor();
    await press(page, '?');
    await dialog(page).getByRole('button', { name: 'Turn keys off' }).click();
    await dialog(page).getByText('Single keys are off').waitFor();
    await press(page, 'Escape', 'g', 'i', '?');
    expect([path(page), await dialog(page).count()]).toEqual(['/projects', 0]);
  });
});
