import { afterAll, beforeAll, expect, test } from '@jest/globals';
import type { Page } from 'playwright-core';
import { type TestApi, testApi } from '../../services/api/test/support/api.js';
import { leaveFiles, submit } from '../../services/api/test/support/play.js';
import { linkFor } from '../../services/api/test/support/sign-in.js';
import { teamYaml } from '../../test/support/cell.js';
import { freePort } from '../../test/support/free-port.js';
import { eventually } from '../../test/support/poll.js';
import { phone, testBrowser } from './support/browser.js';
import { type Keyboard, keyboardOf } from './support/keyboard.js';

/** What people do, each to its end, on a phone with a keyboard alone. */
const browser = testBrowser();
let api: TestApi;
beforeAll(async () => {
  api = await testApi({ port: await freePort() });
});
afterAll(() => api.close());

const team = (name: string) => `${teamYaml.replace('name: team', `name: ${name}`)}\nturn: { maxAttempts: 1 }`;

async function submitted(name: string): Promise<void> {
  await api.create(team(name));
  await submit(api, name, 'ben', `# ${name} one\n`);
}

/** A page of somebody who has no pointer. */
async function open(path: string, token?: string): Promise<{ page: Page; keys: Keyboard }> {
  const page = await browser.page(await browser.open({ viewport: phone }));
  // It stays for later tests, of which each has one.
  await page.clock.install();
  await page.goto((await linkFor(api, { path }, token)).url);
  await page.getByRole('heading', { level: 1 }).first().waitFor();
  return { page, keys: keyboardOf(page) };
}

const button = (page: Page, name: string | RegExp) => page.getByRole('button', { name });
/** Sends what can be taken back until then. */
const sendNow = (page: Page) => page.clock.fastForward(4_000);
const dialog = (page: Page) => page.getByRole('dialog');
const detailOf = async (name: string) =>
  ((await api.get(`/api/projects/${name}`)).json as { project: { status: string; labels: object } }).project;
const becomes = (name: string, wanted: string) =>
  eventually(`${name} is ${wanted}`, async () => (await detailOf(name)).status === wanted);
const happened = async (project: string, type: string) =>
  (await api.rows(project, `SELECT type FROM events WHERE type = '${type}'`)).length;

test('a project is made from a file with a mistake, which is mended, stopped, started and deleted', async () => {
  const { page, keys } = await open('/');
  await keys.press('g', 'p');
  await keys.choose(page.getByRole('link', { name: 'New project' }).first());
  const text =
    'name: counted\ntsk: Count.\nbackend: { runner: { mode: mock } }\nagents:\n  ada: { role: counter, prompt: Count. }\n';
  await keys.give(page.getByLabel('Choose a file'), 'counted.yaml', text);
  const problem = button(page, /^2:1 unknown field `tsk`: did you mean `task`\?/);
  await problem.waitFor();
  await keys.isFine();
  await keys.choose(problem);
  const file = page.getByRole('textbox', { name: /^Project file/ });
  await keys.has(file);
  await keys.press('Delete', 'Delete', 'Delete');
  await keys.write('task');
  await page.getByText('Nothing is wrong with this file.').waitFor();
  // The first closes what the editor suggests, where it does.
  await keys.press('Escape', 'Escape');
  await page.getByText('Makes counted with 1 agent').waitFor();
  await keys.isFine();
  await keys.choose(button(page, 'Create and start'));
  await page.waitForURL(/\/p\/counted$/);
  await becomes('counted', 'running');
  await keys.isFine();

  const menu = (name: string) => page.locator('summary', { hasText: name });
  await keys.choose(menu('Stop'));
  await keys.reach(button(page, /^Stop$/));
  await keys.press('Escape');
  await keys.has(menu('Stop'));
  await keys.press('Enter');
  await keys.choose(button(page, /^Stop$/));
  await becomes('counted', 'stopped');
  await button(page, /^Start$/).waitFor();
  await keys.isFine();
  await keys.choose(button(page, /^Start$/));
  await becomes('counted', 'running');
  await keys.isFine();
  await keys.choose(menu('More'));
  await keys.choose(button(page, 'Delete…'));
  const typed = dialog(page).getByRole('textbox');
  await keys.has(typed);
  await keys.isFine();
  await keys.press('Escape');
  await keys.has(menu('More'));
  await keys.press('Enter');
  await keys.choose(button(page, 'Delete…'));
  await keys.has(typed);
  await keys.write('counted');
  await keys.choose(button(page, 'Delete for good'));
  await keys.has(button(page, 'All projects'));
  expect((await api.get('/api/projects/counted')).status).toBe(404);
  await keys.press('Enter');
  await page.waitForURL(`${api.url}/projects`);
  await keys.isFine();
  browser.expectErrors(/status of 404/);
});

test('mail is written with a file, to somebody who is chosen, and sent', async () => {
  await api.create(team('letters'));
  const { page, keys } = await open('/p/letters/mail');
  await keys.choose(page.getByRole('link', { name: /^Write/ }));
  await keys.has(page.getByRole('textbox', { name: 'Write to ada' }));
  await keys.write('From a phone, g i ?.');
  await keys.reach(page.getByRole('form').getByRole('combobox', { name: 'To' }));
  await keys.write('To cat');
  await keys.give(button(page, 'Attach files'), 'south.csv', '18:00,2.9\n');
  await page.getByRole('list', { name: 'Attached files' }).getByText('south.csv').waitFor();
  await keys.isFine();
  await keys.choose(button(page, /^Send/));
  await page.waitForURL(/\/mail\/\d+$/);
  await page.getByRole('article').filter({ hasText: 'From a phone, g i ?.' }).waitFor();
  await keys.isFine();
  expect((await api.get('/api/projects/letters/messages')).json).toMatchObject({
    items: [{ recipient: 'cat', body: 'From a phone, g i ?.', attachments: [{ name: 'south.csv', sizeBytes: 10 }] }],
  });
});

test('a report is sent back with a reason; another is approved, after that was taken back', async () => {
  for (const name of ['gauge', 'creek']) await submitted(name);
  const { page, keys } = await open('/p/gauge/report');
  await button(page, /^Approve/).waitFor();
  await keys.press('c');
  await keys.has(page.getByRole('textbox', { name: /What is to be changed in version 1/ }));
  await keys.write('Name the gauge, azc.');
  await keys.isFine();
  await keys.choose(button(page, /^Send back/));
  await keys.reach(button(page, /^Take back/));
  await keys.isFine();
  await sendNow(page);
  await becomes('gauge', 'running');
  expect(
    await api.rows('gauge', `SELECT recipient, body FROM messages WHERE sender = 'user' ORDER BY seq DESC LIMIT 1`),
  ).toEqual([{ recipient: 'ben', body: 'Name the gauge, azc.' }]);
  await page.getByText('You sent gauge’s report, version 1, back').last().waitFor();
  await keys.isFine();

  await keys.press('g', 'i');
  await keys.choose(button(page, 'Turn keys off'));
  const item = page.getByRole('region', { name: 'Items' }).getByRole('link', { name: /creek/ }).first();
  await item.waitFor();
  await keys.choose(item);
  await page.getByRole('heading', { name: 'creek one' }).waitFor();
  await button(page, /^Approve/).waitFor();
  await keys.press('a');
  expect(await button(page, /^Take back/).count()).toBe(0);
  await keys.choose(button(page, /^Approve/));
  await keys.choose(button(page, /^Take back/));
  await button(page, /^Approve/).waitFor();
  await keys.isFine();
  expect(await happened('creek', 'project.completed')).toBe(0);
  await keys.choose(button(page, /^Approve/));
  await button(page, /^Take back/).waitFor();
  await sendNow(page);
  await becomes('creek', 'completed');
  await page.getByText('This is settled.').waitFor();
  await keys.isFine();
});

test('files are restored to what they were after a turn', async () => {
  await api.create(team('tides'));
  await leaveFiles(api, 'tides', 'ada', { 'a.md': 'One.\n', 'b.md': 'Same.\n' });
  await leaveFiles(api, 'tides', 'ada', { 'b.md': 'Same.\n', 'c.md': 'Two.\n' });
  const { page, keys } = await open('/p/tides/workspace/ada');
  await keys.reach(page.getByLabel('When'));
  await keys.write('after turn 1');
  await page.waitForURL(/turn=1/);
  const restore = button(page, 'Restore these files…');
  await restore.waitFor();
  await keys.isFine();
  await keys.choose(restore);
  await dialog(page).getByRole('list', { name: 'Files that change' }).getByText('c.md').waitFor();
  await keys.isFine();
  await keys.choose(dialog(page).getByRole('button', { name: 'Restore' }));
  await dialog(page).getByText('They are as they were after turn 1: 1 file added, 1 removed.').waitFor();
  await keys.has(button(page, 'Close'));
  await keys.press('Enter');
  await dialog(page).waitFor({ state: 'detached' });
  await keys.isFine();
  const { items } = (await api.get('/api/projects/tides/agents/ada/workspace/entries')).json as {
    items: { name: string }[];
  };
  expect(items.map(({ name }) => name)).toEqual(['a.md', 'b.md']);
});

test('a token is revoked, and the page that was open with it says so', async () => {
  const { secret } = await api.cell.catalog.tokens.create({ name: 'yuki', scope: 'write', actor: 'test' });
  const [mine, theirs] = [await open('/'), await open('/projects', secret)];
  const last = theirs.page.getByRole('link', { name: 'New project' }).first();
  await theirs.keys.reach(last);
  await mine.keys.press('Control+k');
  await mine.keys.has(mine.page.getByRole('combobox', { name: /^Where to go/ }));
  await mine.keys.write('people');
  await mine.keys.press('Enter');
  const revoke = button(mine.page, 'Revoke… yuki');
  await revoke.waitFor();
  await mine.keys.isFine();
  await mine.keys.choose(revoke);
  await mine.keys.isFine();
  await mine.keys.press('Escape');
  await mine.keys.has(revoke);
  await mine.keys.press('Enter');
  await mine.keys.choose(button(mine.page, 'Revoke for good'));
  await mine.keys.has(button(mine.page, 'Close'));
  await mine.keys.press('Enter');
  await revoke.waitFor({ state: 'detached' });
  await mine.keys.isFine();
  expect((await api.get('/api/projects', { token: secret })).status).toBe(401);

  const over = theirs.page.getByRole('dialog', { name: 'Sign in' });
  await over.getByText('The token "yuki" was revoked, and the session ended with it.').waitFor();
  await theirs.keys.isFine();
  await theirs.keys.reach(over.getByLabel('Link'));
  await theirs.keys.write((await linkFor(api)).url);
  await theirs.keys.press('Enter');
  await over.waitFor({ state: 'detached' });
  await theirs.keys.has(last);
  await theirs.keys.isFine();
  browser.expectErrors(/status of 401/);
});

test('what two people decide is decided once, also where the server restarts in that moment', async () => {
  for (const name of ['delta', 'inlet']) await submitted(name);
  const path = '/p/delta/report';
  const mine = await open(path);
  const both = [mine, await open(path, await api.token('operate'))];
  for (const { page } of both) await button(page, /^Approve/).waitFor();
  await Promise.all(both.map(({ keys }) => keys.press('a')));
  for (const { page } of both) await button(page, /^Take back/).waitFor();
  await Promise.all(both.map(({ page }) => sendNow(page)));
  await becomes('delta', 'completed');
  const refused = /The project is completed, so|was approved meanwhile/;
  await eventually('one of them is told', async () => {
    const told = await Promise.all(both.map(({ page }) => page.getByText(refused).count()));
    return told.filter((times) => times > 0).length === 1;
  });
  for (const { keys } of both) await keys.isFine();
  expect(await happened('delta', 'project.completed')).toBe(1);
  browser.expectErrors(/status of 409/);

  const { page, keys } = mine;
  await page.goto(`${api.url}/p/inlet/report`);
  await button(page, /^Approve/).waitFor();
  await keys.press('a');
  await button(page, /^Take back/).waitFor();
  await api.api.stop();
  await sendNow(page);
  await page.getByText('Not done.').waitFor();
  await keys.isFine();
  await api.api.start();
  await keys.choose(button(page, /^Approve/));
  await becomes('inlet', 'completed');
  await page.getByText('You approved inlet’s report, version 1').last().waitFor();
  expect(await happened('inlet', 'project.completed')).toBe(1);
  await keys.isFine();
  browser.expectErrors(/ERR_|Failed to load/);
});
