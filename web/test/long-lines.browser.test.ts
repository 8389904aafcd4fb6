import { afterAll, beforeAll, expect, test } from '@jest/globals';
import type { Page } from 'playwright-core';
import { mailLimits } from '@suzumio/sdk/client';
import { noteForAgent } from '@suzumio/store/memory/agent-notes';
import { postMessage } from '@suzumio/store/mail/post-message';
import { completeTurn } from '@suzumio/store/turns/complete-turn';
import { type TestApi, testApi } from '../../services/api/test/support/api.js';
import { beginTurn, takeSteps } from '../../services/api/test/support/play.js';
import { linkFor } from '../../services/api/test/support/sign-in.js';
import { desk, go, phone, testBrowser } from './support/browser.js';

const longest = mailLimits.textBytes;
/** One line each, as long as it may be, or written to be costly. */
const lines = {
  word: `gauge ${'x'.repeat(longest - 6)}`,
  quotes: '> '.repeat(9_999),
  lists: '1. '.repeat(6_000),
  emphasis: '*a_'.repeat(6_600),
  pieces: '~~a~~ '.repeat(240),
  links: 'http://a.b '.repeat(1_800),
  cells: `${'|a'.repeat(2_400)}|\n${'|-'.repeat(2_400)}|\n${'|b'.repeat(2_400)}|`,
  hidden: '\u200B'.repeat(19_999),
};
const many = 10_000_000;

const browser = testBrowser();
let api: TestApi;
let seq = 0;
beforeAll(async () => {
  api = await testApi();
  await api.create();
  await api.write('team', (tx) => {
    const mail = { sender: 'ada', recipient: 'user', priority: 'P1', actor: 'ada' } as const;
    const first = postMessage(tx, { ...mail, body: lines.word });
    for (const body of Object.values(lines)) postMessage(tx, { ...mail, recipient: 'ben', body });
    seq = first.seq;
    noteForAgent(tx, 'ada', { text: 'n'.repeat(8_192), tags: [] }, { actor: 'ada' });
  });
  const ada = await beginTurn(api, 'team', 'ada');
  await takeSteps(api, 'team', { agent: 'ada', ...ada }, [
    { step: '0', tool: 'context.get', input: { about: 'x'.repeat(many) }, output: 'y'.repeat(many) },
  ]);
  await api.write('team', (tx) => completeTurn(tx, ada, { output: { text: 'z'.repeat(100_000) } }));
  await api.post('/api/projects/team/labels', { set: { level: 'v'.repeat(60) } });
});
afterAll(() => api.close());

/** What a page holds, and how much wider it is than its window. */
const measured = (page: Page) =>
  page.evaluate<{ nodes: number; wider: number }>(`({
    nodes: document.querySelectorAll('*').length,
    wider: document.documentElement.scrollWidth - innerWidth,
  })`);

/** The same, once nothing more is drawn. */
async function settled(page: Page): ReturnType<typeof measured> {
  let last = await measured(page);
  for (;;) {
    await page.waitForTimeout(400);
    const now = await measured(page);
    if (now.nodes === last.nodes) return now;
    last = now;
  }
}

test.each([desk, phone])(
  'lines without an end leave each view as wide as its window, and small: %j',
  async (viewport) => {
    const page = await browser.page(await browser.open({ viewport }));
    await page.goto((await linkFor(api, { path: '/' })).url);
    await page.getByRole('link', { name: /ada wrote to you/ }).waitFor();
    const views = [
      ['/p/team', '.letter'],
      ['/p/team/mail', '.mailbox-row'],
      [`/p/team/mail/${seq}`, '.letter'],
      ['/p/team/mail?q=gauge', '.mailbox-row'],
      ['/p/team/turns', '.turns-link'],
      ['/p/team/turns/ada:1', '.step'],
      ['/p/team/turns/ada:1?tab=prompt', '.turn-pane'],
      ['/p/team/turns/ada:1?tab=mail', '.turn-pane'],
      ['/p/team/agents/ada', '.note'],
      ['/p/team/log', '.log-row'],
      ['/p/team/log?what=acts', '.table'],
      ['/search?q=gauge', '.found-row'],
    ] as const;
    for (const [path, drawn] of views) {
      await go(page, path);
      await page.locator(drawn).filter({ visible: true }).first().waitFor();
      const { nodes, wider } = await settled(page);
      expect({ path, wider }).toEqual({ path, wider: 0 });
      expect({ path, isSmall: nodes < 3_000, nodes }).toMatchObject({ path, isSmall: true });
    }
    await page.keyboard.press('Control+k');
    await page.getByRole('combobox', { name: /^Where to go/ }).fill('gauge');
    await page
      .getByRole('option', { name: /^ada to/ })
      .first()
      .waitFor();
    expect(await measured(page)).toMatchObject({ wider: 0 });
  },
);

test('what is cut says how much there is of it, and how to have the whole', async () => {
  const page = await browser.page(await browser.open({ viewport: desk }));
  await page.goto((await linkFor(api, { path: `/p/team/mail/${seq}` })).url);
  const letter = page.locator('.letters .letter').first();
  await letter.getByRole('button', { name: 'Show all 262.1 kB' }).click();
  expect((await letter.locator('pre').textContent())?.length).toBe(longest);
  await go(page, '/p/team/turns/ada:1');
  await page.locator('summary').filter({ hasText: 'context.get' }).click();
  const result = page.locator('.step-inside .cut').last();
  await result.getByRole('button', { name: /^Show all/ }).click();
  await result.getByText('There is more of it.').waitFor();
  await result.getByText('suzumio --json tool-calls team --turn ada:1').waitFor();
});
