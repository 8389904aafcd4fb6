import { afterAll, beforeAll, describe, expect, test } from '@jest/globals';
import type { Page } from 'playwright-core';
import { type TestApi, testApi } from '../../services/api/test/support/api.js';
import { loadProjectText } from '@suzumio/core/profiles/load-project';
import { linkFor } from '../../services/api/test/support/sign-in.js';
import { eventually, soon } from '../../test/support/poll.js';
import { desk, go, phone, testBrowser, violations } from './support/browser.js';
import { pasteInto } from './support/paste.js';

const browser = testBrowser();
let api: TestApi;
beforeAll(async () => {
  api = await testApi();
});
afterAll(() => api.close());

const hostile = 'Read \\u202Eall.<img src=x onerror=\\"document.title=\'run\'\\">\\nThen rest.';
const fileOf = (name: string, { write = 'Write.', read = 'Read.', extra = '' } = {}) => `name: ${name}
task: Watch the river.
backend: { runner: { mode: mock } }
agents:
  ada: { role: writer, prompt: "${write}", env: { KEY: squirrel-19 } }
  ben: { role: reader, prompt: "${read}" }
${extra}`;

async function apply(name: string, body: object) {
  const answer = await api.call('PUT', `/api/projects/${name}/config`, { body });
  if (answer.status !== 200) throw new Error(answer.text);
}

async function open(path: string, options: Parameters<typeof browser.open>[0] = { viewport: desk }, token?: string) {
  const page = await browser.page(await browser.open(options));
  await page.goto((await linkFor(api, { path }, token)).url);
  await page.getByRole('heading', { level: 1 }).first().waitFor();
  return page;
}

const versions = (page: Page) => page.getByRole('navigation', { name: 'Versions' });
const versionLink = (page: Page, number: number) =>
  versions(page).getByRole('link', { name: new RegExp(`^Version ${String(number)}\\b`) });
const button = (page: Page, name: string | RegExp) => page.getByRole('button', { name, exact: true });
const editor = (page: Page) => page.getByRole('textbox', { name: /^Project file\. Tab indents/ });
const written = async (page: Page) => (await editor(page).locator('.cm-line').allInnerTexts()).join('\n');
const changes = (page: Page, name: string | RegExp = 'What changes') =>
  page.getByRole('list', { name }).getByRole('listitem');
const newestOf = async (name: string) =>
  (await api.get(`/api/projects/${name}/config/source`)).json as { version: number; file: string };

/** Puts another text in the place of one in the editor, as somebody does who pastes it. */
async function rewrite(page: Page, text: string) {
  await editor(page).click();
  await page.keyboard.press('Control+A');
  await pasteInto(editor(page), text);
}

/** What a file is refused for is an answer, which the browser notes on its console. */
const refusals = /status of 4(00|03|09|22)/;

describe('the versions of a project file', () => {
  beforeAll(async () => {
    await api.create(fileOf('delta'));
    await apply('delta', { file: fileOf('delta', { write: 'Write well.' }), baseVersion: 1 });
    await apply('delta', { file: fileOf('delta', { write: 'Write well.', read: hostile }), baseVersion: 2 });
    await apply('delta', { revert: 1, baseVersion: 3 });
  });

  test('are listed, shown as they were given, and compared, by keys as well', async () => {
    const page = await open('/p/delta/setup');
    await versionLink(page, 4).getByText('in force').waitFor();
    expect(await versionLink(page, 4).innerText()).toMatch(
      /by admin\s+Brings back version 1: agents\.ada\.prompt, agents\.ben\.prompt/,
    );
    expect(await versionLink(page, 2).innerText()).toMatch(/agents\.ada\.prompt$/);
    expect(await versionLink(page, 1).innerText()).toMatch(/The file that the project was made from/);
    for (const key of ['j', 'j', 'Enter']) await page.keyboard.press(key);
    await page.waitForURL(/\?v=2$/);
    const given = page.getByRole('group', { name: 'The project file' });
    await given.getByText('"Write well."').waitFor();
    await button(page, 'What it changed').click();
    await page.waitForURL(/v=2&with=1$/);
    await changes(page, 'From version 1 to version 2').first().waitFor();
    expect(await changes(page, 'From version 1 to version 2').allInnerTexts()).toEqual([
      expect.stringMatching(/agents\.ada\.prompt\s+Write\.\s*→\s*becomes\s*Write well\./),
    ]);
    await page.getByLabel('Compare with').selectOption('3');
    await page.getByRole('list', { name: 'From version 3 to version 2' }).waitFor();
    await page.goBack();
    await page.waitForURL(/\?v=2$/);
    await given.waitFor();
    expect(await page.content()).not.toContain('squirrel');
  });

  test('are among what people did, and lead from there to what each changed', async () => {
    const page = await open('/p/delta/log?what=acts');
    const back = page.getByRole('row', { name: /admin changed the project file/ }).first();
    await back.getByText('changed the project file to version 4, which brings back 1', { exact: true }).waitFor();
    await back.getByText('agents.ada.prompt, agents.ben.prompt', { exact: true }).waitFor();
    expect(await page.getByRole('columnheader', { name: 'Project' }).count()).toBe(0);
    await back.getByRole('link', { name: 'version 4' }).click();
    await page.getByRole('list', { name: 'From version 3 to version 4' }).waitFor();
  });

  test('tell what was added to a list, and nothing else of it', async () => {
    const withTools = (tools: string) => fileOf('listed').replace('role: reader,', `role: reader, tools: [${tools}],`);
    await api.create(withTools('messages.send, messages.reply'));
    await apply('listed', { file: withTools('messages.send, messages.reply, artifacts.list'), baseVersion: 1 });
    const page = await open('/p/listed/setup?v=2&with=1');
    const change = changes(page, 'From version 1 to version 2');
    await change.getByText('artifacts.list').waitFor();
    expect(await change.locator('.diff-added').count()).toBe(1);
    expect(await change.locator('.diff-removed').count()).toBe(0);
  });

  test('are written with what belongs to a key below it, deeper', async () => {
    await api.create(fileOf('typed'));
    const page = await open('/p/typed/setup?change=yes');
    await editor(page).waitFor();
    await rewrite(page, '');
    await page.keyboard.type('agents:\neve:\nrole: reader\nprompt: |\nRead.');
    expect(await written(page)).toBe('agents:\n  eve:\n    role: reader\n    prompt: |\n      Read.');
    browser.expectErrors(refusals);
  });

  test('show what is hostile in them as text', async () => {
    const page = await open('/p/delta/setup?v=3&with=2');
    const change = changes(page, 'From version 2 to version 3');
    await change.getByText('Read ‹202E›all.<img src=x').waitFor();
    expect(await change.locator('img').count()).toBe(0);
    expect(await page.title()).not.toBe('run');
    await go(page, '/p/delta/setup?v=%3Cb%3E&with=-1');
    await versionLink(page, 4).waitFor();
    browser.expectErrors(/status of 404/);
    await go(page, '/p/delta/setup?v=77');
    await page.getByText(/there is no version 77|no version 77/i).waitFor();
  });

  test('are brought back after what that changes', async () => {
    await api.create(fileOf('back'));
    await apply('back', { file: fileOf('back', { write: 'Write well.' }), baseVersion: 1 });
    const page = await open('/p/back/setup?v=1');
    await button(page, 'Bring version 1 back…').click();
    const dialog = page.getByRole('dialog');
    await changes(page).first().waitFor();
    expect(await changes(page).allInnerTexts()).toEqual([
      expect.stringMatching(/agents\.ada\.prompt\s+from the next turn\s+Write well\.\s*→\s*becomes\s*Write\./),
    ]);
    // Somebody else is faster: nothing of theirs is taken back unseen.
    await api.call('PUT', '/api/projects/back/config', {
      body: { file: fileOf('back', { write: 'Write well.', read: 'Read all.' }), baseVersion: 2 },
    });
    await dialog.getByRole('button', { name: 'Apply as version 4' }).waitFor();
    await dialog.getByText('agents.ben.prompt').waitFor();
    await dialog.getByRole('button', { name: 'Apply as version 4' }).click();
    await dialog.getByText('Version 4 is in force.').waitFor();
    await dialog.getByRole('button', { name: 'Close' }).click();
    await versionLink(page, 4).getByText('Brings back version 1').waitFor();
    // What is in force is shown, and not the version that was looked at.
    await page.waitForURL(/\/p\/back\/setup$/);
    await page.getByText('Version 4, in force').waitFor();
  });

  test('leave agents behind that are retired, which need nothing', async () => {
    await api.create(fileOf('gone'));
    await api.post('/api/projects/gone/start');
    const without = fileOf('gone').replace(/ {2}ben: .*\n/, '');
    await apply('gone', { file: without, baseVersion: 1 });
    const page = await open('/p/gone/agents');
    await page.getByText('It was retired').waitFor();
    const why = page.waitForResponse(/\/why$/);
    await page.goto(`${api.url}/p/gone`);
    await why;
    await page.getByText('retired', { exact: true }).locator('visible=true').first().waitFor();
    expect(await page.getByText('It was retired').count()).toBe(0);
    await go(page, '/p/gone/agents/ben');
    await page.getByText('It was retired').waitFor();
    const run = page.getByRole('group', { name: 'Run ben' });
    await run.waitFor();
    expect(await run.getByRole('button', { name: 'Pause' }).count()).toBe(0);
    await go(page, '/p/gone/mail/new');
    const recipients = page.getByRole('form').getByRole('combobox', { name: 'To' });
    await recipients.waitFor();
    await soon(async () => expect(await recipients.innerText()).toContain('ada'));
    expect(await recipients.innerText()).not.toContain('ben');
  });

  test('are many: earlier ones come in parts', async () => {
    await api.create(fileOf('many'));
    for (let number = 1; number < 200; number += 1) {
      await apply('many', { file: fileOf('many', { write: `Write ${String(number)}.` }), baseVersion: number });
    }
    const page = await open('/p/many/setup');
    await versionLink(page, 200).waitFor();
    expect(await versions(page).getByRole('link').count()).toBe(50);
    for (const last of [101, 51, 1]) {
      await button(page, 'Earlier versions').click();
      await versionLink(page, last).waitFor();
    }
    await soon(async () => {
      expect(await versions(page).getByRole('link').count()).toBe(200);
    });
    expect(await button(page, 'Earlier versions').count()).toBe(0);
  });
});

describe('the file of a living project', () => {
  test('that reads others is changed from its text with everything resolved', async () => {
    browser.expectErrors(refusals);
    const source = fileOf('imports', { read: '@import(read.md)' });
    const { config } = loadProjectText(source.replace('@import(read.md)', 'Read the gauge.'), 'file');
    await api.cell.createProject({ config, source, actor: 'ann' });
    const page = await open('/p/imports/setup?change=yes');
    await page.getByText('here everything stands in its place', { exact: false }).waitFor();
    await editor(page).getByText('rendered: 1').waitFor();
    const { json } = await api.get('/api/projects/imports/config/versions/1?rendered=true');
    const { rendered } = json as { rendered: string };
    expect(rendered).not.toContain('@import');
    await rewrite(page, rendered.replace('Read the gauge.', 'Read both gauges.'));
    await button(page, 'Show what changes').click();
    await changes(page).first().waitFor();
    expect(await changes(page).allInnerTexts()).toHaveLength(1);
  });

  test('is changed: mended, refused, looked at, applied; what is written outlives a reload', async () => {
    browser.expectErrors(refusals);
    await api.create(fileOf('river'));
    const page = await open('/p/river/setup');
    await button(page, 'Change the file…').click();
    await page.waitForURL(/\?change=yes$/);
    await eventually('the file is in the editor', async () => (await written(page)).includes('name: river'));
    expect(await written(page)).toContain('KEY: (hidden)');
    expect(await button(page, 'Show what changes').count()).toBe(0);

    const shown = (await newestOf('river')).file;
    await rewrite(page, shown.replace('task:', 'tsk:'));
    await page.getByRole('button', { name: /^2:1 unknown field `tsk`: did you mean `task`\?/ }).waitFor();
    await page.getByText(/^\d problems? to mend first\.$/).waitFor();

    await editor(page).press('Control+A');
    await editor(page).press('Delete');
    await page.getByRole('button', { name: '1:1 the file is empty' }).waitFor();

    await rewrite(page, shown.replace('name: river', 'name: sea').replace('Write.', 'Write well.'));
    await button(page, 'Show what changes').click();
    await changes(page).first().waitFor();
    expect(await changes(page).allInnerTexts()).toEqual([
      expect.stringMatching(/^name\s+✕ refused\s+river\s*→\s*becomes\s*sea\s+\S/),
      expect.stringMatching(/^agents\.ada\.prompt\s+from the next turn/),
    ]);
    await page.getByText('One change is refused', { exact: false }).waitFor();
    expect(await button(page, /^Apply/).count()).toBe(0);

    await rewrite(page, shown.replace('Write.', 'Write well.').concat('budget: { turns: 9 }\n'));
    await page.getByText('Nothing is wrong with this file.').waitFor();
    // What was looked at was another text.
    expect(await button(page, /^Apply/).count()).toBe(0);
    await page.reload();
    await eventually('the draft is back', async () => (await written(page)).includes('turns: 9'));
    await button(page, 'Show what changes').click();
    await changes(page).getByText('at once').first().waitFor();
    await button(page, 'Apply as version 2').click();
    await page.getByText('Version 2 is in force.').waitFor();
    await page.waitForURL(/\/setup$/);
    await versionLink(page, 2).getByText('in force').waitFor();
    expect((await newestOf('river')).version).toBe(2);
    await button(page, 'Change the file…').click();
    await eventually('the editor has the new version', async () => (await written(page)).includes('turns: 9'));
    expect(await button(page, 'Throw away what I have written').count()).toBe(0);
  });

  test('changed by somebody else is compared anew, and what was written is kept', async () => {
    browser.expectErrors(refusals);
    await api.create(fileOf('lake'));
    const page = await open('/p/lake/setup?change=yes');
    await editor(page).waitFor();
    const shown = (await newestOf('lake')).file;
    await rewrite(page, shown.replace('Write.', 'Write well.'));
    await button(page, 'Show what changes').click();
    await button(page, 'Apply as version 2').waitFor();
    // The page has not heard of it when the button is pressed.
    let isAsked = false;
    const before = (await api.get('/api/projects/lake/config/versions?limit=50&order=desc')).text;
    await page.route('**/config/versions?*', (route) =>
      isAsked ? route.continue() : route.fulfill({ contentType: 'application/json', body: before }),
    );
    page.on('request', (request) => {
      isAsked ||= request.method() === 'PUT';
    });
    await apply('lake', { file: fileOf('lake', { read: 'Read all.' }), baseVersion: 1 });
    const answer = page.waitForResponse((response) => response.request().method() === 'PUT');
    await button(page, 'Apply as version 2').click();
    expect((await answer).status()).toBe(409);
    const newer = page.getByRole('region', { name: 'Another version is in force' });
    await newer.getByText('Version 2 is in force by now').waitFor();
    await changes(page, 'What the other has changed').first().waitFor();
    expect(await changes(page, 'What the other has changed').allInnerTexts()).toEqual([
      expect.stringMatching(/agents\.ben\.prompt\s+Read\.\s*→\s*becomes\s*Read all\./),
    ]);
    expect(await written(page)).toContain('Write well.');
    expect((await newestOf('lake')).version).toBe(2);

    await rewrite(page, shown.replace('Write.', 'Write well.').replace('Read.', 'Read all.'));
    await newer.getByRole('button', { name: 'Compare with version 2' }).click();
    await button(page, 'Apply as version 3').waitFor();
    expect(await changes(page).allInnerTexts()).toEqual([expect.stringMatching(/^agents\.ada\.prompt/)]);
    await button(page, 'Apply as version 3').click();
    await page.getByText('Version 3 is in force.').waitFor();
    expect((await newestOf('lake')).file).toContain('Read all.');
  });

  test('is not changed by those who only read: they see how it is done', async () => {
    await api.create(fileOf('pond'));
    await apply('pond', { file: fileOf('pond', { write: 'Write well.' }), baseVersion: 1 });
    const page = await open('/p/pond/setup?change=yes', { viewport: desk }, await api.token('read'));
    await page.getByText('suzumio config apply pond FILE').waitFor();
    expect(await button(page, 'Change the file…').count()).toBe(0);
    expect(await page.getByRole('textbox', { name: /^Project file/ }).count()).toBe(0);
    await versionLink(page, 1).click();
    await page.getByText('suzumio config revert pond 1').waitFor();
    expect(await button(page, /^Bring/).count()).toBe(0);
  });
});

test.each([desk, phone])('the setup is for everybody at %o', async (viewport) => {
  const name = `sea-${String(viewport.width)}`;
  await api.create(fileOf(name));
  await apply(name, { file: fileOf(name, { read: hostile, extra: 'budget: { turns: 9 }\n' }), baseVersion: 1 });
  const page = await open(`/p/${name}/setup`, { viewport });
  const check = async (what: string) => {
    expect({ what, violations: await violations(page) }).toEqual({ what, violations: [] });
    expect(await page.evaluate<number>('document.documentElement.scrollWidth')).toBeLessThanOrEqual(viewport.width);
  };
  await page.getByRole('group', { name: 'The project file' }).waitFor();
  await check('newest');
  if (viewport === phone) await button(page, 'Versions').click();
  await versionLink(page, 1).waitFor();
  await check('versions');
  await go(page, `/p/${name}/setup?v=2&with=1`);
  await changes(page, 'From version 1 to version 2').first().waitFor();
  await check('compared');
  await go(page, `/p/${name}/setup?v=1`);
  await button(page, 'Bring version 1 back…').click();
  await changes(page).first().waitFor();
  await check('revert');
  await page.keyboard.press('Escape');
  await go(page, `/p/${name}/setup?change=yes`);
  await editor(page).waitFor();
  await rewrite(
    page,
    (await newestOf(name)).file.replace(`name: ${name}`, 'name: other').replace('Write.', 'Write on.'),
  );
  await button(page, 'Show what changes').click();
  await changes(page).first().waitFor();
  await check('change');
  await apply(name, { file: fileOf(name, { read: 'Read it.' }), baseVersion: 2 });
  await page.getByText('Version 3 is in force by now').waitFor();
  await check('newer');
});
