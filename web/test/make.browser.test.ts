import { afterAll, beforeAll, describe, expect, test } from '@jest/globals';
import type { Page } from 'playwright-core';
import { type TestApi, testApi } from '../../services/api/test/support/api.js';
import { linkFor } from '../../services/api/test/support/sign-in.js';
import { eventually, soon } from '../../test/support/poll.js';
import { desk, go, phone, testBrowser, violations } from './support/browser.js';
import { pasteInto } from './support/paste.js';

const browser = testBrowser();
let api: TestApi;
beforeAll(async () => {
  api = await testApi();
  await api.create();
});
afterAll(() => api.close());

async function open(path = '/new', options: Parameters<typeof browser.open>[0] = { viewport: desk }) {
  const page = await browser.page(await browser.open(options));
  await page.goto((await linkFor(api, { path })).url);
  await page.getByRole('heading', { level: 1 }).first().waitFor();
  return page;
}

const file = (page: Page) => page.getByRole('textbox', { name: /^Project file\. Tab indents/ });
const isInFile = (page: Page) =>
  page.evaluate<boolean>(
    "document.activeElement?.shadowRoot?.activeElement?.classList.contains('cm-content') ?? false",
  );
const lines = async (page: Page) => (await file(page).locator('.cm-line').allInnerTexts()).join('\n');
const problem = (page: Page, text: string | RegExp) => page.getByRole('button', { name: text });
const fine = (page: Page) => page.getByText('Nothing is wrong with this file.');
const textOf = (name: string, extra = '') =>
  `name: ${name}\ntask: Count.\nbackend: { runner: { mode: mock } }\nagents:\n  ada: { role: counter, prompt: Count. }\n${extra}`;

const paste = (page: Page, text: string | number) => pasteInto(file(page), text);

describe('a project', () => {
  test('is written, mended where a problem stands, and created with its first mail', async () => {
    const page = await open('/projects');
    await page.getByRole('link', { name: 'New project' }).click();
    await file(page).click();
    await paste(page, textOf('counted').replace('task:', 'tsk:'));
    await problem(page, /^2:1 unknown field `tsk`: did you mean `task`\?/).waitFor();
    await file(page).locator('.cm-wrong', { hasText: 'tsk' }).first().waitFor();
    // What is not mended is not created: it is gone to.
    await page.getByRole('button', { name: 'Create and start' }).click();
    await page
      .locator('.make-act .make-count')
      .getByText(/problems? to mend first\. [12]:1 /)
      .waitFor();
    await problem(page, /^2:1 /).click();
    await page.keyboard.press('Delete');
    await page.keyboard.type('ta');
    await page.keyboard.press('Delete');
    await page.keyboard.type('s');
    await fine(page).waitFor();
    await page.getByRole('region', { name: 'What it would be' }).getByText('counted').waitFor();
    await page.getByLabel('What it says').fill('Count to three.');
    await page.getByText('Makes counted with 1 agent, starts it, and sends your mail to ada.').waitFor();
    await page.getByRole('button', { name: 'Create and start' }).click();
    await page.waitForURL(`${api.url}/p/counted`);
    await page.getByText('Count to three.').first().waitFor();
    expect(api.cell.catalog.projects.all()).toContainEqual({ id: 'counted', status: 'running' });
    await go(page, '/new');
    await page.getByRole('heading', { name: 'Begin with an example that runs here' }).waitFor();
    expect(await lines(page)).not.toContain('counted');
  });

  test('begins with an example, and what was written comes back', async () => {
    const page = await open();
    await file(page).click();
    await page.keyboard.type('name: mine');
    await page.getByText('Begin with an example instead').click();
    await page.getByRole('button', { name: /^A newsroom/ }).click();
    await fine(page).waitFor();
    expect(await page.getByLabel('What it says').inputValue()).toBe("Tonight's bulletin, please.");
    await page.getByRole('button', { name: 'Take back what I had written' }).click();
    await eventually('the text is back', async () => (await lines(page)).trim() === 'name: mine', {
      show: () => lines(page),
    });
    await page.getByRole('button', { name: /^A newsroom/ }).click();
    await fine(page).waitFor();
    await page.getByRole('button', { name: 'Create and start' }).click();
    await page.waitForURL(`${api.url}/p/newsroom`);
  });

  test('is not told of an example once another file is in its place', async () => {
    const page = await open();
    await page.getByRole('button', { name: /^A newsroom/ }).click();
    await page.getByText(/Makes newsroom(-\d)? with 4 agents/).waitFor();
    // The button that was pressed is gone: the next act has the focus.
    await soon(async () => expect(await page.evaluate('document.activeElement.textContent')).toBe('Create and start'));
    const other = Buffer.from(textOf('other').replace('task:', 'tsk:'));
    await page.getByLabel('Choose a file').setInputFiles({ name: 'a.yaml', mimeType: 'text/yaml', buffer: other });
    await page.locator('.make-act .make-count').getByText('problems to mend first').waitFor();
    expect(
      await page
        .locator('.make-side')
        .getByText(/newsroom/)
        .count(),
    ).toBe(0);
    await soon(async () => {
      expect(await page.getByLabel('What it says').inputValue()).toBe('');
    });
    await page.getByRole('button', { name: 'Take back what I had written' }).click();
    await page.getByText(/Makes newsroom(-\d)? with 4 agents/).waitFor();
    expect(await page.getByLabel('What it says').inputValue()).toBe("Tonight's bulletin, please.");
  });

  test('begins with the file of another, whose name it cannot have', async () => {
    const page = await open('/p/team/setup');
    await page.getByRole('link', { name: 'New project from this file' }).click();
    await problem(page, /name: there is a project team already/).waitFor();
    await page.getByText('The file of team is in the editor').waitFor();
    expect(new URL(page.url()).search).toBe('');
  });

  test('of a name that is taken is refused in its place', async () => {
    const page = await open();
    await file(page).click();
    await paste(page, textOf('team'));
    await problem(page, '1:7 name: there is a project team already').waitFor();
    expect(await lines(page)).toContain('name: team');
  });
});

test('what a file of the published format has without effect is noted at its line, and is no problem', async () => {
  const page = await open();
  await file(page).click();
  await paste(page, textOf('noted', 'tools: { toolpacks: [core, web] }\n'));
  await fine(page).waitFor();
  await problem(page, /^6:28 Note: tools\.toolpacks\[1\] \(web\): the toolpack/).waitFor();
  await file(page).locator('.cm-noted', { hasText: 'web' }).waitFor();
  await page.getByText('Makes noted with 1 agent', { exact: false }).waitFor();
});

describe('what is given', () => {
  test('too large, or no text, is said to be, and nothing written is lost; a reload keeps the draft', async () => {
    const page = await open();
    await file(page).click();
    await page.keyboard.type('name: kept');
    await paste(page, 10_000_000);
    await page.getByText(/^What was pasted has .* MB, and a project file at most/).waitFor();
    const choose = page.getByLabel('Choose a file');
    await choose.setInputFiles({ name: 'photo.png', mimeType: 'image/png', buffer: Buffer.from([0x89, 0, 0xff]) });
    await page.getByText(/^photo\.png is no text/).waitFor();
    expect((await lines(page)).trim()).toBe('name: kept');
    await page.getByLabel('What it says').fill('Also kept.');
    await page.reload();
    await eventually('the draft is back', async () => (await lines(page)).trim() === 'name: kept', {
      show: () => lines(page),
    });
    await soon(async () => {
      expect(await page.getByLabel('What it says').inputValue()).toBe('Also kept.');
    });
    await choose.setInputFiles({ name: 'a.yaml', mimeType: 'text/yaml', buffer: Buffer.from(textOf('chosen')) });
    await page.getByText('Makes chosen with 1 agent', { exact: false }).waitFor();
  });

  test('asks for what a page cannot give: the words of the refusal stand in place', async () => {
    const page = await open();
    await file(page).click();
    await paste(page, textOf('far').replace('Count. }', 'Count., workspace: { from: readings } }'));
    await page.locator('.make-problem').first().waitFor();
    expect(await page.locator('.make-problem').first().innerText()).toMatch(/readings|absolute|relative/);
  });
});

test('the editor completes fields and values, and is left by Escape and Tab', async () => {
  const page = await open('/new', { viewport: phone });
  await file(page).waitFor();
  for (let at = 0; at < 60 && !(await isInFile(page)); at += 1) {
    await page.keyboard.press('Tab');
  }
  await page.keyboard.type('bud');
  await page.getByRole('option', { name: /^budget/ }).waitFor();
  await page.waitForTimeout(100);
  // What has fields has them below it.
  await page.keyboard.press('Enter');
  await page.keyboard.type('tur');
  await page.getByRole('option', { name: /^turns/ }).waitFor();
  await page.keyboard.press('Escape');
  expect(await lines(page)).toContain('budget:');
  await page.locator('.make-problem').first().waitFor();
  expect(await violations(page)).toEqual([]);
  await page.keyboard.press('Escape');
  await page.keyboard.press('Tab');
  expect(await isInFile(page)).toBe(false);
  await page.context().close();
});

test('those who may not make projects see how it is done', async () => {
  const page = await browser.page(await browser.open({ viewport: desk }));
  const token = await api.token('operate');
  await page.goto((await linkFor(api, { path: '/new' }, token)).url);
  await page.getByText('suzumio init FILE').waitFor();
  expect(await page.getByRole('textbox').count()).toBe(0);
  await go(page, '/projects');
  await page.getByRole('link', { name: 'team' }).first().waitFor();
  expect(await page.getByRole('link', { name: 'New project' }).count()).toBe(0);
});
