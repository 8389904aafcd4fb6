import { cp, mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, beforeAll, describe, expect, test } from '@jest/globals';
import type { Page } from 'playwright-core';
import { type TestApi, testApi } from '../../services/api/test/support/api.js';
import { playTurn, publish, publishDirectory, submit } from '../../services/api/test/support/play.js';
import { linkFor } from '../../services/api/test/support/sign-in.js';
import { teamYaml } from '../../test/support/cell.js';
import { freePort } from '../../test/support/free-port.js';
import { desk, go, testBrowser } from './support/browser.js';

const browser = testBrowser();
let api: TestApi;
beforeAll(async () => {
  api = await testApi();
  await api.create();
  await playTurn(api, 'team', 'ada', 'context.get', () => undefined);
  await publish(api, 'team', 'ada', { name: 'levels.txt', content: Buffer.from('3.2 m') });
});
afterAll(() => api.close());

async function open(path: string, { of = api, token }: { of?: TestApi; token?: string } = {}): Promise<Page> {
  const page = await browser.page(await browser.open({ viewport: desk }));
  await page.goto((await linkFor(of, { path }, token ?? of.adminToken)).url);
  await page.getByRole('navigation', { name: 'Suzumio' }).waitFor();
  return page;
}

/** Answers what pages ask for at `path` otherwise. */
const problem = (code: string, status: number, detail: string) => ({
  status,
  contentType: 'application/problem+json',
  body: JSON.stringify({ type: `urn:suzumio:${code}`, title: code, status, code, detail }),
});

describe('a token that is revoked in mid-view', () => {
  test('leaves what is shown and written, and another link goes on there', async () => {
    const page = await open('/p/team/mail', { token: await api.token('read') });
    await page.getByText('Please begin.').first().waitFor();
    await page.getByRole('searchbox').fill('gauge of the north');
    await api.cell.catalog.tokens.revoke('read-1');
    const over = page.getByRole('dialog', { name: 'Sign in' });
    await over
      .getByText('You are signed out. The token "read-1" was revoked, and the session ended with it.')
      .waitFor();
    expect(await page.getByRole('heading', { name: 'team', level: 1, includeHidden: true }).count()).toBe(1);
    await over.getByLabel('Link').fill((await linkFor(api)).url);
    await page.keyboard.press('Enter');
    await over.waitFor({ state: 'detached' });
    await page.getByRole('heading', { name: 'team', level: 1 }).waitFor();
    expect(new URL(page.url()).pathname).toBe('/p/team/mail');
    expect(await page.getByRole('searchbox').inputValue()).toBe('gauge of the north');
    browser.expectErrors(/status of 401/);
  });
});

test('a project that is deleted while it is open stays as it was, on each of its pages', async () => {
  await api.create(teamYaml.replace('name: team', 'name: brief'));
  await playTurn(api, 'brief', 'ada', 'context.get', () => undefined);
  const page = await open('/p/brief/agents');
  await page
    .getByRole('link', { name: /^Ada|^ada/ })
    .first()
    .waitFor();
  const others: Page[] = [];
  for (const path of ['', '/mail', '/turns', '/turns/ada:1', '/agents/ada', '/files', '/report', '/workspace/ada']) {
    others.push(await opened(page, `/p/brief${path}`));
  }
  for (const path of ['/cost', '/log', '/setup', '/tasks']) others.push(await opened(page, `/p/brief${path}`));
  await api.call('DELETE', '/api/projects/brief');
  for (const one of [page, ...others]) {
    await one.getByText('This project was deleted. What you see is how it was.').waitFor();
    expect(await one.getByRole('heading', { level: 1 }).innerText()).toMatch(/^(brief|Turn 1)$/);
  }
  await page.getByRole('link', { name: 'Projects' }).first().click();
  await page.getByRole('heading', { name: 'Projects', exact: true }).waitFor();
  await page.getByRole('link', { name: 'brief' }).first().waitFor({ state: 'detached' });
  browser.expectErrors(/status of 404/);
});

/** Another page of the same browser. */
async function opened(beside: Page, path: string): Promise<Page> {
  const page = await browser.page(beside.context());
  await page.goto(`${api.url}${path}`);
  await page.getByRole('heading', { level: 1 }).first().waitFor();
  return page;
}

describe('a server', () => {
  test('that fails is quoted in place, and tried again', async () => {
    const page = await open('/p/team');
    let answers = 'badly';
    await page.route('**/api/usage?*', (route) =>
      answers === 'badly' ? route.fulfill(problem('internal', 500, 'The disk is on fire.')) : route.continue(),
    );
    await page.getByRole('link', { name: 'Cost' }).click();
    await page.getByRole('alert').getByText('The disk is on fire.').waitFor();
    expect(await page.getByRole('heading', { name: 'team', level: 1 }).count()).toBe(1);
    answers = 'well';
    await page.getByRole('button', { name: 'Try again' }).click();
    await page.getByText('No model was asked yet.').waitFor();
    browser.expectErrors(/status of 500/);
  });

  test('that does not answer is said to be silent, and what comes late is shown', async () => {
    const page = await open('/p/team');
    const waiting = Promise.withResolvers<undefined>();
    await page.route('**/api/usage?*', async (route) => {
      await waiting.promise;
      await route.continue();
    });
    await page.getByRole('link', { name: 'Cost' }).click();
    await page.getByText(/The server has not answered for \d+ s\. Still waiting\./).waitFor();
    waiting.resolve(undefined);
    await page.getByText('No model was asked yet.').waitFor();
    await page.getByText('The server has not answered').waitFor({ state: 'detached' });
  });

  test('that is older than the page is said to be', async () => {
    const page = await open('/p/team');
    await page.route('**/api/usage?*', (route) =>
      route.fulfill(problem('not-found', 404, 'There is no GET /api/usage here.')),
    );
    await page.getByRole('link', { name: 'Cost' }).click();
    await page.getByText('There is no GET /api/usage here. This server is of another version').waitFor();
    await page.unroute('**/api/usage?*');
    await page.getByRole('button', { name: 'Load anew' }).click();
    await page.getByText('No model was asked yet.').waitFor();
    browser.expectErrors(/status of 404/);
  });

  test('whose answer is of another shape breaks its part of the page alone', async () => {
    const page = await open('/p/team');
    await page.route('**/api/usage?*', (route) => route.fulfill({ json: { by: 'day', items: [{}] } }));
    await page.getByRole('link', { name: 'Cost' }).click();
    await page.getByRole('alert').getByText('This cannot be shown').waitFor();
    await page.getByRole('link', { name: 'Inbox' }).first().click();
    await page.getByRole('heading', { name: 'Inbox' }).waitFor();
    browser.expectErrors(/./);
  });

  test('that goes away and comes back is followed again, and what was shown stays', async () => {
    const other = await testApi({ port: await freePort() });
    await other.create();
    const page = await open('/p/team/agents', { of: other });
    await page.getByText(/^Live/).waitFor();
    await other.api.stop();
    await page.getByText(/Connection lost \d+ s ago\. Trying again\./).waitFor();
    expect(await page.getByRole('heading', { name: 'team', level: 1 }).count()).toBe(1);
    await other.api.start();
    await page.getByText('Connection lost').waitFor({ state: 'detached' });
    await page.context().close();
    await other.close();
    browser.expectErrors(/ERR_|Failed to load/);
  });
});

test('a data directory that is restored from a backup is shown as it is now, wherever a page was open', async () => {
  const port = await freePort();
  const before = await testApi({ port });
  await before.create();
  await before.create(teamYaml.replace('name: team', 'name: kept'));
  await playTurn(before, 'team', 'ada', 'context.get', () => undefined);
  await playTurn(before, 'team', 'ben', 'context.get', () => undefined);
  for (let number = 1; number <= 4; number += 1) await write(before, `Gauge ${number} of the past.`);
  const page = await open('/p/team', { of: before });
  await page.getByText('Gauge 4 of the past.').first().waitFor();

  const backup = await mkdtemp(join(tmpdir(), 'suzumio-backup-'));
  await cp(before.root, backup, { recursive: true });
  await before.create(teamYaml.replace('name: team', 'name: lost'));
  await playTurn(before, 'team', 'ada', 'context.get', () => undefined);
  for (let number = 1; number <= 120; number += 1) await write(before, `Gauge ${number} of the lost future.`);
  const mail = (await before.get('/api/projects/team/messages?order=desc&limit=1')).json as {
    items: { seq: number }[];
  };
  const newest = mail.items[0]?.seq ?? 0;
  await before.post('/api/projects/team/labels', { set: { level: 'future' } });
  const file = teamYaml.replace('prompt: Read.', 'prompt: Read the future.');
  expect(await before.call('PUT', '/api/projects/team/config', { body: { file, baseVersion: 1 } })).toMatchObject({
    status: 200,
  });
  const shown: [path: string, before: string, after: string][] = [
    ['/p/team/log', 'project.labelled', 'project.restored'],
    ['/p/team/log?what=acts', 'future', 'made the project'],
    ['/p/team/mail', 'Gauge 120 of the lost future.', 'Written after the restore.'],
    [`/p/team/mail/${newest}`, 'Gauge 120 of the lost future.', `There is no message ${newest}`],
    ['/p/team/turns?agent=ada', 'ada, turn 2', 'ada, turn 1'],
    ['/p/team/turns/ada:2', 'Turn 2', 'There is no turn ada:2'],
    ['/p/team/setup?v=2', 'Read the future.', 'version 2'],
    ['/projects', 'lost', 'team'],
    ['/p/lost', 'lost', 'There is no project lost'],
    ['/p/lost/log', 'project.started', 'There is no project lost'],
  ];
  const others: [page: Page, after: string][] = [[page, 'Written after the restore.']];
  for (const [path, words, after] of shown) {
    const one = await browser.page(page.context());
    await one.goto(`${before.url}${path}`);
    await seen(one, words).waitFor();
    others.push([one, after]);
  }

  await before.close();
  const restored = await testApi({ port }, undefined, { from: backup });
  await write(restored, 'Written after the restore.');
  for (const [one, words] of others) {
    await seen(one, words).waitFor();
    await one.getByText('Connection lost').waitFor({ state: 'detached' });
    expect(await one.locator('main').innerText()).not.toMatch(/future|ada, turn 2|This cannot be shown/);
  }
  await page.context().close();
  await restored.close();
  await rm(backup, { recursive: true });
  browser.expectErrors(/ERR_|Failed to load/);
});

const seen = (page: Page, words: string) => page.locator('main').getByText(words).filter({ visible: true }).first();
const write = (of: TestApi, body: string) => of.post('/api/projects/team/messages', { recipient: 'cat', body });

test('an address that leads to nothing says so, with the way on', async () => {
  await submit(api, 'team', 'ada', '# Level\n');
  const { items } = (await api.get('/api/projects/team/artifacts')).json as { items: { id: string }[] };
  const file = items[0]?.id ?? '';
  const site = await publishDirectory(api, 'team', 'site', { 'index.html': 'Level' });
  const page = await open('/');
  for (const [path, words, way] of [
    ['/p/nothing', 'There is no project nothing', 'All projects'],
    ['/p/team/turns/ada:99', 'There is no turn ada:99', 'All turns'],
    ['/p/team/turns/%E0%A4%A', 'There is no turn', 'All turns'],
    ['/p/team/mail/99999', 'There is no message 99999', 'All mail'],
    ['/p/team/files/art_00000000000000000000000000', 'There is no such file.', 'All files'],
    ['/p/team/agents/zoe', 'There is no agent zoe', 'All agents'],
    ['/p/team/workspace/zoe', 'There is no agent zoe', 'All agents'],
    ['/p/team/nowhere', 'Nothing is here', 'Open the inbox'],
    ['/p/team/report?v=99', 'There is no version 99.', 'The newest version'],
    ['/p/team/report?with=x', 'There is no version x.', 'The newest version'],
    [`/p/team/files/${file}?with=art_1`, 'There is no version art_1 of it', 'Without a comparison'],
    [`/p/team/files/${site}?path=no%2Fwhere`, 'There is no file no/where in it.', 'All of it'],
    ['/p/team/workspace/ada?path=no%2Fwhere', '"no/where" is not in the workspace of ada', 'All files of ada'],
    ['/p/team/workspace/ada?turn=99', 'There is no turn "ada:99"', 'The files as they are now'],
    ['/inbox/nothing', 'There is nothing here: it was settled, or never was.', 'Next item'],
  ] as const) {
    await go(page, path);
    await page.getByText(words).first().waitFor();
    await page.getByRole('link', { name: way }).first().waitFor();
  }
  // Not an address of the page: the server itself says so.
  await page.goto(`${api.url}/nowhere`);
  expect(await page.textContent('body')).toContain('There is no GET /nowhere here.');
  browser.expectErrors(/status of 40[04]/);
});
