import { createHash } from 'node:crypto';
import { readFile } from 'node:fs/promises';
import { afterAll, beforeAll, expect, test } from '@jest/globals';
import type { BrowserContext, Page } from 'playwright-core';
import { mountable } from '../../test/support/mountable.js';
import { type ModelServer, startModelServer } from '../../test/support/model-server.js';
import { eventually } from '../../test/support/poll.js';
import { type Stack, startStack } from '../../test/support/stack.js';
import { desk, phone, testBrowser } from './support/browser.js';

// The page over the services as processes of their own, whose turns run in containers. Those have no network: what a
// browser is loading does not fail when one starts.

const levels = 'station,level\nnorth,218\nsouth,190\n';
const file = `
name: gauges
task: Watch the gauges.
backend:
  docker: { keep: never }
  runner:
    mode: mock
    script:
      - agent: watcher
        steps: [{ run: { command: 'i=0; while [ $i -lt 3000 ]; do i=$((i+1)); echo "reading $i"; sleep 0.1; done' } }]
      - agent: writer
        when: { turn: 1 }
        steps:
          - write: { path: levels.csv, text: ${JSON.stringify(levels)} }
          - tool: artifacts.publish
            input: { path: levels.csv, description: The levels }
          - tool: messages.send
            input: { recipient: watcher, body: The levels are published. }
          - tool: completion.submit
            input: { report: "# Levels\\n\\nNorth: 218." }
      - agent: writer
        steps:
          - tool: completion.submit
            input: { report: "# Levels\\n\\nNorth at 20:00: 218." }
agents:
  writer: { role: writer, prompt: Write., tools: [messages.send, artifacts.publish, completion.submit] }
  watcher: { role: watcher, prompt: Watch., tools: [] }
`;

const hostile = '<img src=x onerror="document.title=1"><script>document.title=2</script>\u202e\u200b';
const thinking = (baseURL: string) => `
name: thinking
task: Think about the gauges.
backend:
  docker: { keep: never }
  runner:
    mode: ai
    model: main
    models:
      providers: { local: { type: openai-compatible, baseURL: "${baseURL}", apiKeyEnv: MODEL_KEY } }
      presets: { main: { provider: local, model: scripted, price: { input: 1000, output: 2000 } } }
agents:
  thinker: { role: thinker, prompt: Think., tools: [artifacts.list] }
`;

// A network is taken away from one tab after the other, of which those of one process hear too early.
const browser = testBrowser({ sharesProcesses: false });
let stack: Stack;
let model: ModelServer;
beforeAll(async () => {
  // It thinks aloud, uses a tool, and is done.
  model = await startModelServer(({ body }) =>
    body.messages.at(-1)?.role === 'user'
      ? { text: `I **look** at both. ${hostile}`, calls: [{ name: 'artifacts_list', arguments: { creator: hostile } }] }
      : { text: `Both are low. ${hostile}` },
  );
  stack = await startStack({
    parent: mountable,
    environment: { MODEL_KEY: 'sk-test-planted' },
    policy: { providers: [{ baseURL: model.baseURL, apiKeyEnv: 'MODEL_KEY' }] },
  });
  for (const project of [file, thinking(model.baseURL)]) {
    const made = await stack.api('POST', '/projects', { file: project, start: true });
    expect(made).toMatchObject({ status: 201 });
  }
});
afterAll(async () => {
  await stack.stop();
  await model.close();
});

const send = async (recipient: string, body: string) => {
  const sent = await stack.api('POST', '/projects/gauges/messages', { recipient, priority: 'P1', body });
  expect(sent).toMatchObject({ status: 201 });
};

async function signedIn(path: string, context?: BrowserContext): Promise<Page> {
  const inMotion = { viewport: desk, reducedMotion: 'no-preference' } as const;
  const page = await browser.page(context ?? (await browser.open(inMotion)));
  const { body } = await stack.api('POST', '/sign-in-links', { path });
  await page.goto((body as { url: string }).url);
  await page.getByRole('navigation', { name: 'Suzumio' }).waitFor();
  return page;
}

test('a link leads to a team whose turns appear; its output moves, and it is stopped', async () => {
  const page = await signedIn('/p/gauges');
  await page.getByText(/^Live/).waitFor();
  await send('watcher', 'Watch the north gauge.');
  await page.getByText('Watch the north gauge.').first().waitFor();
  await page.getByText('1 at work').waitFor();
  await page.goto(`${stack.url}/p/gauges/turns/watcher:1`);
  const live = page.getByRole('region', { name: 'Not yet recorded' });
  const newest = async () =>
    Number(
      (await live.innerText())
        .match(/reading \d+/g)
        ?.at(-1)
        ?.slice(8) ?? 0,
    );
  await live.getByText(/reading \d/).waitFor();
  const before = await newest();
  await eventually('its output moves', async () => (await newest()) > before, { show: () => live.innerText() });
  await page.setViewportSize(phone);
  await live.getByText(/reading \d/).waitFor();
  expect(await page.evaluate<number>('document.documentElement.scrollWidth')).toBeLessThanOrEqual(phone.width);
  await page.getByRole('button', { name: /^Cancel/ }).click();
  await page
    .getByText(/cancelled/i)
    .first()
    .waitFor();
});

test('what a team made is sent back once, compared, approved, and downloaded as it is', async () => {
  const page = await signedIn('/p/gauges');
  await page.getByText(/^Live/).waitFor();
  await send('writer', 'Begin.');
  await page.goto(`${stack.url}/p/gauges/report`);
  await page.getByText('North: 218.').waitFor();
  await page.getByRole('button', { name: /^Request changes/ }).click();
  await page.getByRole('textbox', { name: /What is to be changed/ }).fill('Name the time.');
  await page.keyboard.press('Control+Enter');
  await page.getByText('Show version 2').click();
  await page.getByRole('article').getByText('North at 20:00: 218.').waitFor();
  await page.getByRole('region', { name: 'What changed from version 1 to 2' }).locator('ins').first().waitFor();
  await page.getByRole('button', { name: /^Approve/ }).click();
  await eventually('it is approved', async () => (await status()) === 'completed');

  await page.goto(`${stack.url}/p/gauges/files`);
  await page.getByRole('link', { name: /levels\.csv/ }).click();
  await page.getByRole('cell', { name: '218' }).waitFor();
  const downloading = page.waitForEvent('download');
  await page.getByRole('link', { name: 'Download', exact: true }).click();
  const hash = sha256(await readFile(await (await downloading).path()));
  await page.getByText(hash, { exact: true }).waitFor();
  expect(hash).toBe(sha256(levels));

  await page.goto(`${stack.url}/p/gauges/mail`);
  await page.getByRole('searchbox').fill('published');
  await page.keyboard.press('Enter');
  await page.locator('mark').first().waitFor();
});

test('a conversation with a model is read question by question, with what it cost; it runs nothing', async () => {
  const page = await signedIn('/p/thinking');
  const message = { recipient: 'thinker', priority: 'P1', body: `Are they low? ${hostile}` };
  expect(await stack.api('POST', '/projects/thinking/messages', message)).toMatchObject({ status: 201 });
  const turn = `${stack.url}/p/thinking/turns/thinker:1`;
  await page.goto(turn);
  await page.getByText('Both are low.').first().waitFor();
  await page.locator('strong', { hasText: 'look' }).waitFor();
  await page.getByText('artifacts.list').first().waitFor();
  await page.getByText('‹202E›‹200B›').first().waitFor();
  for (const [tab, shown] of [
    ['prompt', 'Think about the gauges.'],
    ['mail', 'Are they low?'],
    ['attempts', 'Attempt 1'],
    ['usage', 'scripted'],
  ] as const) {
    await page.goto(`${turn}?tab=${tab}`);
    await page.getByText(shown).first().waitFor();
  }
  await page.goto(`${turn}?tab=log`);
  await page.locator('.terminal').or(page.getByText('It has printed nothing.')).waitFor();
  await page.goto(`${stack.url}/p/thinking/cost`);
  await page.getByText('scripted').first().waitFor();
  expect(await page.title()).not.toMatch(/^[12]$/);
});

test('two tabs outlast a server that is killed and a network that goes away; nothing is missed, nothing comes twice', async () => {
  const first = await signedIn('/p/gauges');
  const second = await signedIn('/p/gauges', first.context());
  const tabs = [first, second];
  const all = (look: (page: Page) => Promise<unknown>) => Promise.all(tabs.map(look));
  const seenOnce = async (text: string) => {
    await all((page) => page.getByText(text, { exact: true }).first().waitFor());
    const lists = await all((page) =>
      page.getByRole('region', { name: 'Mail' }).getByText(text, { exact: true }).count(),
    );
    expect(lists).toEqual([1, 1]);
  };
  await all((page) => page.getByText(/^Live/).waitFor());
  const [api] = stack.services.api;
  await api?.kill();
  await all((page) => page.getByText('Connection lost').waitFor());
  await api?.start();
  await send('watcher', 'After the restart.');
  await seenOnce('After the restart.');
  await all((page) => page.getByText('Connection lost').waitFor({ state: 'detached' }));

  await first.context().setOffline(true);
  await all((page) => page.getByText('Connection lost').waitFor());
  await send('watcher', 'While the network was away.');
  await first.context().setOffline(false);
  await seenOnce('While the network was away.');
  await all((page) => page.getByText('Connection lost').waitFor({ state: 'detached' }));
  browser.expectErrors(/ERR_|Failed to load/);
});

async function status(): Promise<string> {
  const { body } = await stack.api('GET', '/projects/gauges');
  return (body as { project: { status: string } }).project.status;
}

const sha256 = (content: Buffer | string) => createHash('sha256').update(content).digest('hex');
