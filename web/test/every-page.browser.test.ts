import { afterAll, beforeAll, expect, test } from '@jest/globals';
import type { Page } from 'playwright-core';
import { beginEpoch } from '@suzumio/store/projects/begin-epoch';
import { placeOf } from '@suzumio/store/projects/file-place';
import { type TestApi, testApi } from '../../services/api/test/support/api.js';
import { failTurn, leaveFiles, payForCall, playTurn, publish, submit } from '../../services/api/test/support/play.js';
import { linkFor } from '../../services/api/test/support/sign-in.js';
import { teamYaml } from '../../test/support/cell.js';
import { desk, go, tablet, testBrowser, violations } from './support/browser.js';

/** What a name may try: to turn the order of what follows, to be not seen, to run, and to be long; an agent's has 80 characters. */
const hostile = (name: string) => `${name}\u202E\u200B<img src=x onerror="document.title='run'">`.padEnd(80, 'W');
const shown = (name: string) => `${name}‹202E›‹200B›<img src=x`;

const yamlOf = (name: string) =>
  `${teamYaml
    .replace('name: team', `name: ${name}`)
    .replace('displayName: Benny', `displayName: ${JSON.stringify(hostile('Ben'))}`)}\nturn: { maxAttempts: 1 }`;

const browser = testBrowser();
let api: TestApi;
let file: string;
beforeAll(async () => {
  api = await testApi();
  await api.create(teamYaml.replace('displayName: Benny', `displayName: ${JSON.stringify(hostile('Ben'))}`));
  await api.post('/api/teams', { name: 'desk' });
  await api.post('/api/profiles', { nickname: 'Ren', role: 'reporter', team: 'desk', persona: 'Be brief.' });
  await playTurn(api, 'team', 'ben', 'context.get', () => undefined);
  await leaveFiles(api, 'team', 'ben', { 'a.md': '# A\n' });
  ({ id: file } = await publish(api, 'team', 'ben', { name: hostile('File'), content: Buffer.from('3.2 m') }));
  await submit(api, 'team', 'ben', '# River level\n\nThe north gauge: 212.\n');
  await api.create(yamlOf('stuck'));
  await failTurn(api, 'stuck', 'ben');
  await payForCall(api, 'stuck', 'ben', { usd: 0.75, model: hostile('Model') });
});
afterAll(() => api.close());

async function open(path: string, viewport = tablet): Promise<Page> {
  const page = await browser.page(await browser.open({ viewport }));
  await page.goto((await linkFor(api, { path })).url);
  await page.getByRole('navigation', { name: 'Suzumio' }).waitFor();
  return page;
}

/** Every page, with what is on it once it is read. */
const pages = (): [path: string, part: string][] => [
  ['/', `text=${shown('Ben')}`],
  ['/projects', 'text=team'],
  ['/new', '.cm-editor, .gallery, h1'],
  ['/search?q=gauge', 'text=gauge'],
  ['/cost', '.days-table'],
  ['/system', 'text=ben'],
  ['/p/stuck', `text=${shown('Ben')}`],
  ['/search?q=Ben', `text=${shown('Ben')}`],
  ['/tokens', '.people-rows li'],
  ['/profiles', 'text=Ren'],
  ['/profiles/Ren', '.people-text'],
  ['/teams', 'text=desk'],
  ['/teams/desk', 'text=Ren'],
  ['/p/team', `text=${shown('Ben')}`],
  ['/p/team/mail', `text=${shown('Ben')}`],
  ['/p/team/turns', `text=${shown('Ben')}`],
  ['/p/team/turns/ben:1', `text=${shown('Ben')}`],
  ['/p/team/agents', `text=${shown('Ben')}`],
  ['/p/team/agents/ben', `text=${shown('Ben')}`],
  ['/p/team/files', `text=${shown('File')}`],
  [`/p/team/files/${file}`, 'text=3.2 m'],
  ['/p/team/report', 'text=The north gauge'],
  ['/p/team/workspace/ben', 'text=a.md'],
  ['/p/team/tasks', '#content'],
  ['/p/stuck/cost', `text=${shown('Model')}`],
  ['/p/team/log', `text=${shown('File')}`],
  ['/p/team/log?what=acts', '.table'],
  ['/p/team/setup', '.setup-yaml'],
];

test('every address answers with the page', async () => {
  for (const [path] of pages()) {
    const answer = await fetch(`${api.url}${path}`);
    expect({ path, status: answer.status, text: await answer.text() }).toEqual({
      path,
      status: 200,
      text: expect.stringContaining('<div id="page">'),
    });
  }
});

test.each(['/people', '/anything/at/all', '/api-docs'])(
  '%s is nothing, as the page says to a browser',
  async (path) => {
    const page = await open('/');
    const answer = await page.goto(`${api.url}${path}`);
    expect(answer?.status()).toBe(404);
    await page.getByRole('heading', { name: 'Nothing is here' }).waitFor();
    for (const accept of ['application/json', '*/*']) {
      const told = await fetch(`${api.url}${path}`, { headers: { accept } });
      expect([told.status, told.headers.get('content-type')]).toEqual([
        404,
        expect.stringMatching(/^application\/problem/),
      ]);
    }
    browser.expectErrors(/status of 404/);
  },
);

test('a page that a browser translates goes on to show what is so', async () => {
  await api.create(teamYaml.replace('name: team', 'name: told'), { start: false });
  const page = await open('/p/told', desk);
  await page
    .locator('.project-title .state', { hasText: 'not started' })
    .or(page.locator('.project-title .state'))
    .waitFor();
  const translate = () =>
    page.evaluate(`(() => {
      const walker = document.createTreeWalker(document.getElementById('page'), NodeFilter.SHOW_TEXT);
      const texts = [];
      while (walker.nextNode()) if (/\\S/.test(walker.currentNode.data)) texts.push(walker.currentNode);
      for (const text of texts) {
        if (text.parentElement.closest('[translate="no"], font, option, textarea, script')) continue;
        const [outer, inner] = [document.createElement('font'), document.createElement('font')];
        inner.textContent = text.data + '.';
        outer.append(inner);
        text.replaceWith(outer);
      }
    })()`);
  await page.getByText(/^Live/).waitFor();
  await translate();
  await api.post('/api/projects/told/start');
  await page.locator('.project-title .state', { hasText: 'quiet' }).waitFor();
  await translate();
  await api.post('/api/projects/told/messages', { recipient: 'ada', body: 'Begin.' });
  await page.locator('.pane-note', { hasText: '1 message' }).waitFor();
  await page.locator('.tab', { hasText: 'Mail' }).getByText('1').waitFor();
  await translate();
  await submit(api, 'told', 'ada', '# One\n');
  await page.locator('.project-title .state', { hasText: 'submitted' }).waitFor();
  for (const path of ['/p/told/report', '/p/told/log', '/', '/p/told']) {
    await go(page, path);
    await translate();
  }
  await page.locator('.project-title .state', { hasText: 'submitted' }).waitFor();
  expect(await page.locator('#content code:not([translate="no"]), #content kbd:not([translate="no"])').count()).toBe(0);
});

test('every page fits a tablet, has nothing in anybody’s way, and runs or hides nothing of a hostile name', async () => {
  const page = await open('/');
  const found: Record<string, unknown> = {};
  page.on('response', (answer) => {
    if (answer.status() >= 500) found[answer.url()] = answer.status();
  });
  for (const [path, part] of pages()) {
    await go(page, path);
    await page
      .locator(part)
      .first()
      .waitFor({ state: 'attached', timeout: 10_000 })
      .catch(() => {
        found[`${path} ${part}`] = 'is not there';
      });
    const width = await page.evaluate<number>('document.documentElement.scrollWidth');
    const text = `${String(await page.locator('body').textContent())} ${await page.title()}`;
    const drawn = await page.locator('img[src=x], body script:not([src])').count();
    const axe = await violations(page);
    const isRun = (await page.title()) === 'run';
    const hidden = /[\u202E\u200B]/.test(text);
    if (width > tablet.width || axe.length > 0 || drawn > 0 || isRun || hidden) {
      found[path] = { width, axe, drawn, isRun, hidden };
    }
  }
  expect(found).toEqual({});
});

test('a project whose past is another one is read again, on the page that is open', async () => {
  await api.create(teamYaml.replace('name: team', 'name: copied'));
  const page = await open('/p/copied/log', desk);
  await page.getByText(/^Live/).waitFor();
  await page.getByText('project.initialized').waitFor();
  // What no event tells of, until the stream is another one.
  await api.write('copied', (tx) => tx.run(`UPDATE agents SET display_name = 'Ren' WHERE id = 'ada'`));
  await api.write('copied', (tx) => beginEpoch(tx, { place: placeOf(api.cell.directory.projectFile('copied')) }));
  await page.getByText('project.restored').waitFor();
  await page.getByLabel('About').locator('option', { hasText: 'Ren' }).waitFor({ state: 'attached' });
});

test('what is in anybody’s way is found, and in dark what colours do', async () => {
  const page = await browser.page(await browser.open());
  const style =
    'body { background: light-dark(#fff, #000) } h1 { color: light-dark(#000, #222) } p { color: light-dark(#eee, #fff) }';
  await page.setContent(
    `<html lang="en"><title>Gauges</title><style>:root { color-scheme: light dark } ${style}</style><main><h1>Gauges</h1><p>North</p><button></button></main>`,
  );
  expect((await violations(page)).map((line) => line.replace(/: .*?(<\w+).*/, ' $1'))).toEqual([
    'button-name <button',
    'color-contrast <p',
    'in dark, color-contrast <h1',
  ]);
});

test.each(['one', 'the next'])('what a test leaves in a browser is not in that of the next: %s', async () => {
  const page = await browser.page(await browser.open({ viewport: tablet }));
  await page.goto(`${api.url}/projects`);
  await page.getByRole('heading', { name: 'Sign in' }).waitFor();
  expect(await page.evaluate('localStorage.getItem("left")')).toBe(null);
  await page.goto((await linkFor(api)).url);
  await page.getByRole('heading', { name: 'Inbox' }).waitFor();
  await page.evaluate('localStorage.setItem("left", "by a test")');
  browser.expectErrors(/status of 401/);
});
