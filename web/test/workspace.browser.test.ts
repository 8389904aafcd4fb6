import { afterAll, beforeAll, expect, test } from '@jest/globals';
import { createHash } from 'node:crypto';
import { readFile } from 'node:fs/promises';
import { type TestApi, testApi } from '../../services/api/test/support/api.js';
import { leaveFiles } from '../../services/api/test/support/play.js';
import { linkFor } from '../../services/api/test/support/sign-in.js';
import { desk, phone, testBrowser, violations } from './support/browser.js';

const browser = testBrowser();
const hostile = '100%25 #?&<img src=x onerror=alert(1)>\u202etxt.exe';
const level = (number: number) => `import gauge\nprint(${String(number)})\n`;
let api: TestApi;
beforeAll(async () => {
  api = await testApi();
  await api.create();
  const first = { 'src/level.py': level(1), 'notes.md': '# Notes\n', [`odd/${hostile}`]: 'Odd.\n' };
  await leaveFiles(api, 'team', 'ada', first);
  await leaveFiles(api, 'team', 'ada', { ...first, 'notes.md': '# More notes\n' });
  await leaveFiles(api, 'team', 'ada', {
    ...first,
    'src/level.py': level(3),
    'src/run': { run: 'echo 1\n' },
    'to level': { link: 'src/level.py' },
  });
});
afterAll(() => api.close());

async function open(path: string, options: Parameters<typeof browser.open>[0] = { viewport: desk }) {
  const page = await browser.page(await browser.open({ ...options, acceptDownloads: true }));
  await page.goto((await linkFor(api, { path })).url);
  await page.getByRole('navigation', { name: 'Suzumio' }).waitFor();
  return page;
}

test('files are found by directories, read, downloaded, and seen as they were', async () => {
  const page = await open('/p/team/workspace');
  const files = page.getByRole('list', { name: 'Files' });
  await files.getByRole('link', { name: 'src', exact: true }).click();
  await files.getByRole('link', { name: /^level.py/ }).click();
  await page.getByText('print(3)').waitFor();
  const downloading = page.waitForEvent('download');
  await page.getByRole('link', { name: 'Download' }).click();
  const bytes = await readFile(await (await downloading).path());
  expect(bytes.toString()).toBe(level(3));
  await page.getByText(createHash('sha256').update(bytes).digest('hex'), { exact: true }).waitFor();

  const history = page.getByRole('region', { name: 'History' });
  expect(await history.getByRole('listitem').allInnerTexts()).toEqual([
    expect.stringMatching(/^Turn 3/),
    expect.stringMatching(/^Turn 1/),
  ]);
  await page.getByLabel('When').selectOption({ label: 'after turn 2' });
  await page.getByText('print(1)').waitFor();
  await page.reload();
  await page.getByText('print(1)').waitFor();
  await page.getByRole('navigation', { name: 'Where' }).getByRole('link', { name: 'ada' }).click();
  await files.getByRole('link', { name: 'notes.md' }).click();
  await page.getByRole('heading', { name: 'More notes' }).waitFor();
  await page.getByLabel('When').selectOption({ label: 'before the first turn' });
  await page.getByText(/is not in the workspace of ada as it was after its turn 0/).waitFor();
  browser.expectErrors(/status of 404/);
});

test('any two turns are compared, as a whole and at one path', async () => {
  const page = await open('/p/team/workspace/ada?turn=3&from=1');
  await page.getByText('What differs between after turn 1 and after turn 3').waitFor();
  await page.getByRole('region', { name: 'src/run' }).waitFor();
  expect(await page.getByRole('region', { name: 'notes.md' }).count()).toBe(0);
  await page.getByLabel('When').selectOption({ label: 'after turn 2' });
  await page.getByRole('region', { name: 'notes.md' }).waitFor();
  await page.getByRole('list', { name: 'Files' }).getByRole('link', { name: 'src', exact: true }).click();
  await page.getByText('Nothing differs.').waitFor();
});

test('a name is a name, whatever it says', async () => {
  const page = await open('/p/team/workspace/ada?path=odd');
  await page.getByRole('link', { name: /100%25/ }).click();
  await page.getByText('Odd.', { exact: true }).waitFor();
  expect(await page.getByText('‹202E›').count()).toBeGreaterThan(0);
  await page.goto(`${api.url}/p/team/workspace/ada?path=to%20level`);
  await page.getByText('A link to src/level.py').waitFor();
  await page.goto(`${api.url}/p/team/workspace/zoe`);
  await page.getByText('There is no agent zoe here.').waitFor();
});

test.each([
  [desk, 'light'],
  [phone, 'dark'],
] as const)('it is for everybody at %o, %s', async (viewport, colorScheme) => {
  const page = await open('/p/team/workspace/ada', { viewport, colorScheme });
  for (const [path, text] of [
    ['', 'to level'],
    ['?path=src%2Flevel.py', 'print(3)'],
    ['?turn=3&from=1', 'echo 1'],
  ] as const) {
    await page.goto(`${api.url}/p/team/workspace/ada${path}`);
    await page.getByText(text).first().waitFor();
    expect({ path, violations: await violations(page) }).toEqual({ path, violations: [] });
    const width = await page.evaluate<number>('document.documentElement.scrollWidth');
    expect({ path, fits: width <= viewport.width }).toEqual({ path, fits: true });
  }
});
