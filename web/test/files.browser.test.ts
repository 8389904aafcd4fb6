import { afterAll, beforeAll, describe, expect, test } from '@jest/globals';
import { createHash } from 'node:crypto';
import { readFile } from 'node:fs/promises';
import { type TestApi, testApi } from '../../services/api/test/support/api.js';
import { findArtifact } from '@suzumio/store/content/artifacts';
import { publishArtifact } from '@suzumio/store/content/publish-artifact';
import { teamYaml } from '../../test/support/cell.js';
import { publish, publishDirectory, submit } from '../../services/api/test/support/play.js';
import { linkFor } from '../../services/api/test/support/sign-in.js';
import { soon } from '../../test/support/poll.js';
import { redPoint } from './support/documents.js';
import { desk, go, phone, testBrowser, violations } from './support/browser.js';

const browser = testBrowser();
const hostile = '<img src=x onerror="document.title=1"><script>document.title=2</script>\u202e\u200b';
const first = 'station,level\nnorth,212\nsouth,190\n';
const second = 'station,level\nnorth,218\nsouth,190\n';
const code = "document.title = 'run';\nconsole.log(`<b>${1 + 1}</b>`);\n";
let api: TestApi;
beforeAll(async () => {
  api = await testApi();
  await api.create();
  for (const text of [first, second])
    await publish(api, 'team', 'ada', { name: 'levels.csv', content: Buffer.from(text) });
  await publish(api, 'team', 'ada', { name: 'odd.md', content: Buffer.from(`# Odd\n\n${hostile}\n`) });
  await publish(api, 'team', 'ada', { name: 'long.txt', content: Buffer.alloc(10_000_000, 'x') });
  await publish(api, 'team', 'ada', { name: 'point.png', content: Buffer.from(redPoint, 'base64') });
  await publish(api, 'team', 'ada', { name: 'run.js', content: Buffer.from(code) });
  await publishDirectory(api, 'team', 'readings', { 'north.csv': '1,2\n' });
  await submit(api, 'team', 'ada', '# River level\n\nThe north gauge: 212.\n');
  await api.post('/api/projects/team/request-changes', { recipient: 'ada', body: 'Name the time.' });
  await submit(api, 'team', 'ada', '# River level\n\nThe north gauge at 20:00: 218.\n');
});
afterAll(() => api.close());

async function open(path: string, options: Parameters<typeof browser.open>[0] = { viewport: desk }) {
  const page = await browser.page(await browser.open({ ...options, acceptDownloads: true }));
  await page.goto((await linkFor(api, { path })).url);
  await page.getByRole('navigation', { name: 'Suzumio' }).waitFor();
  return page;
}

describe('files', () => {
  test('are shown as what they are, compared by version, and downloaded as they are', async () => {
    const page = await open('/p/team/files');
    await page.getByRole('link', { name: /levels\.csv/ }).click();
    await page.getByRole('cell', { name: '218' }).waitFor();
    expect(await page.locator('.table-values .number').allTextContents()).toEqual(['level', '218', '190']);
    await page.getByText('version 2 of 2').waitFor();
    await page.getByLabel('Compare with').selectOption({ label: 'version 1' });
    await page.getByText('- north,212').waitFor();
    await page.getByText('+ north,218').waitFor();
    expect(new URL(page.url()).searchParams.has('with')).toBe(true);
    const downloading = page.waitForEvent('download');
    await page.getByRole('link', { name: 'Download', exact: true }).click();
    const bytes = await readFile(await (await downloading).path());
    const hash = createHash('sha256').update(bytes).digest('hex');
    await page.getByText(hash, { exact: true }).waitFor();
    expect(hash).toBe(createHash('sha256').update(second).digest('hex'));
  });

  test('are a row for each name, with all of its versions, however many there are', async () => {
    await api.create(teamYaml.replace('name: team', 'name: many'));
    await publish(api, 'many', 'ada', { name: 'levels.csv', content: Buffer.from(first) });
    await api.write('many', (tx) => {
      const stored = findArtifact(tx, { name: 'levels.csv' });
      if (!stored) throw new Error('nothing is published');
      const { path, sha256, sizeBytes } = stored;
      const add = (name: string) => publishArtifact(tx, { creator: 'ada', name, path, sha256, sizeBytes });
      for (let at = 1; at <= 120; at += 1) add(`reading ${at}.csv`);
      for (let version = 1; version < 600; version += 1) add('levels.csv');
    });
    const page = await open('/p/many/files');
    await page.getByRole('link', { name: /levels\.csv.*600 versions/ }).waitFor();
    await page.getByRole('link', { name: /reading 120\.csv/ }).waitFor();
    await page.getByRole('link', { name: /levels\.csv/ }).click();
    await page.getByText('version 600 of 600').waitFor();
    await page.getByRole('button', { name: 'Older' }).click();
    await page.getByText('121 names').waitFor();
    // One beyond those that can be chosen, and one beyond the rows that were read.
    const { items } = (await api.get('/api/projects/many/artifacts?limit=130&after=0')).json as {
      items: { id: string; name: string }[];
    };
    const idOf = (name: string) => items.find((item) => item.name === name)?.id ?? '';
    await go(page, `/p/many/files/${idOf('levels.csv')}`);
    await page.getByText('one of the oldest 100 of 600 versions').waitFor();
    await go(page, `/p/many/files/${idOf('reading 1.csv')}`);
    await page.getByText('version 1 of 1').waitFor();
  });

  test('run nothing, and are cut where they are long', async () => {
    const page = await open('/p/team/files');
    await page.getByRole('link', { name: /odd\.md/ }).click();
    await page.getByRole('heading', { name: 'Odd', exact: true }).waitFor();
    await page.getByText('‹202E›‹200B›').waitFor();
    expect(await page.title()).not.toMatch(/^[12]$/);
    await page.getByRole('link', { name: /long\.txt/ }).click();
    await page.getByText(/The first 1\.0 MB of 10\.0 MB/).waitFor();
    expect(await page.evaluate<number>('document.querySelector(".diff-text").textContent.length')).toBe(4_000);
    await page.getByRole('link', { name: /readings/ }).click();
    await page.getByRole('button', { name: /north\.csv/ }).click();
    await page.getByRole('columnheader', { name: '1' }).waitFor();
  });
});

test('a picture is drawn, and code is text of one width, its lines numbered', async () => {
  const page = await open('/p/team/files');
  await page.getByRole('link', { name: /point\.png/ }).click();
  const picture = page.getByRole('img', { name: 'point.png' });
  await picture.waitFor();
  await soon(async () =>
    expect(await page.evaluate<number>('document.querySelector(".preview-picture").naturalWidth')).toBe(1),
  );
  await page.getByRole('link', { name: /run\.js/ }).click();
  const lines = page.getByRole('region', { name: 'File' }).locator('.diff-row');
  await soon(async () =>
    expect((await lines.allInnerTexts()).map((line) => line.replace(/\s+/, ' '))).toEqual(
      code
        .trimEnd()
        .split('\n')
        .map((line, at) => `${at + 1} ${line}`),
    ),
  );
  const font = 'getComputedStyle(document.querySelector(".diff-text")).fontFamily';
  expect(await page.evaluate<string>(font)).toContain('Mono');
  expect(await page.title()).not.toBe('run');
});

test('a report is printed by itself, black on white', async () => {
  const page = await open('/p/team/report');
  await page.getByText('The north gauge at 20:00: 218.').waitFor();
  for (const colorScheme of ['light', 'dark'] as const) {
    await page.emulateMedia({ media: 'print', colorScheme });
    const { ink, grounds } = await page.evaluate<{ ink: string; grounds: string[] }>(`(() => {
      const text = document.querySelector('.report-paper p:last-child');
      const grounds = [];
      for (let one = text; one !== null; one = one.parentElement) grounds.push(getComputedStyle(one).backgroundColor);
      return { ink: getComputedStyle(text).color, grounds: grounds.filter((one) => one !== 'rgba(0, 0, 0, 0)') };
    })()`);
    expect({ colorScheme, ink, grounds: [...new Set(grounds)] }).toEqual({
      colorScheme,
      ink: 'rgb(0, 0, 0)',
      grounds: ['rgb(255, 255, 255)'],
    });
    for (const part of await page.locator('nav, button, select, .report-foot').all()) {
      expect({ part: await part.getAttribute('class'), seen: await part.isVisible() }).toMatchObject({ seen: false });
    }
    await page.getByText('The north gauge at 20:00: 218.').waitFor();
  }
  expect((await page.pdf()).subarray(0, 5).toString()).toBe('%PDF-');
});

test('a report is read, and compared word by word with the version before, which opens by itself', async () => {
  const page = await open('/p/team/report');
  await page.getByText('The north gauge at 20:00: 218.').waitFor();
  const changes = page.getByRole('region', { name: 'What changed from version 1 to 2' });
  await changes.getByText(/^Version 1, by ada in turn 7, \d\d:\d\d\. Sent back by admin, /).waitFor();
  await page.getByText(/^Version 2, by ada in turn 8, \d\d:\d\d$/).waitFor();
  expect((await changes.locator('del').allInnerTexts()).join('')).toBe('212');
  expect((await changes.locator('ins').allInnerTexts()).join('')).toContain('218');
  await page.getByLabel('compared with').selectOption('');
  await changes.waitFor({ state: 'detached' });
  expect(new URL(page.url()).searchParams.get('with')).toBe('none');
  await page.getByLabel('compared with').selectOption('1');
  await changes.waitFor();
  // On a phone it stands above the report, and fits.
  await page.setViewportSize(phone);
  const [above, below] = await Promise.all([changes.boundingBox(), page.locator('.report-paper').boundingBox()]);
  expect(above?.y).toBeLessThan(below?.y ?? 0);
  expect(above?.width).toBeLessThanOrEqual(phone.width - 32);
});

test('the log has what happened, about all or one', async () => {
  const page = await open('/p/team/log');
  await page.getByText('project.submitted').first().waitFor();
  await page.getByLabel('About').selectOption('ben');
  await page.getByText('project.submitted').first().waitFor({ state: 'detached' });
  await page.getByLabel('About').selectOption('');
  await page.getByText('ada handed in version 2 of the report').waitFor();
  await page.getByRole('link', { name: 'version 2 of the report' }).click();
  await page.getByText('The north gauge at 20:00: 218.').waitFor();
});

test('the system says who is here', async () => {
  const page = await open('/system');
  await page.getByText('You are admin').waitFor();
  await page.getByText('No worker is connected').waitFor();
});

test.each([desk, phone])('all of it is for everybody at %o', async (viewport) => {
  const page = await open('/p/team/files', { viewport });
  for (const [path, part] of [
    ['files', 'text=levels.csv'],
    ['report', 'text=The north gauge at 20:00'],
    ['cost', 'text=No model was asked yet'],
    ['log', '.log-row'],
    ['setup', '.setup-yaml'],
  ] as const) {
    await go(page, `/p/team/${path}`);
    await page.locator(part).first().waitFor();
    expect({ path, violations: await violations(page) }).toEqual({ path, violations: [] });
    const width = await page.evaluate<number>('document.documentElement.scrollWidth');
    expect({ path, fits: width <= viewport.width }).toEqual({ path, fits: true });
  }
  await go(page, '/system');
  await page.getByRole('heading', { name: 'System' }).waitFor();
  expect(await violations(page)).toEqual([]);
});
