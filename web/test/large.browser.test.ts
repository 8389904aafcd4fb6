import { afterAll, beforeAll, describe, expect, test } from '@jest/globals';
import { postMessage } from '@suzumio/store/mail/post-message';
import { type TestApi, testApi } from '../../services/api/test/support/api.js';
import { playTurn } from '../../services/api/test/support/play.js';
import { linkFor } from '../../services/api/test/support/sign-in.js';
import { soon } from '../../test/support/poll.js';
import { desk, phone, testBrowser } from './support/browser.js';

const messages = 10_000;
const agents = 200;
const turns = 1_000;
const mostNodes = 3_000;

const browser = testBrowser();
let api: TestApi;
beforeAll(async () => {
  api = await testApi();
  const file = {
    name: 'large',
    task: 'Work.',
    backend: { runner: { mode: 'mock', script: [] } },
    agents: { worker: { role: 'worker', prompt: 'Work.', tools: ['*'], count: agents } },
  };
  await api.create(JSON.stringify(file));
  for (let turn = 0; turn < turns; turn += 1)
    await playTurn(api, 'large', `worker-${1 + ((turn * 7) % agents)}`, 'context.get', () => undefined);
  await api.write('large', (tx) => {
    // One a minute.
    for (const [table, seq] of [
      ['turns', 'seq'],
      ['turn_attempts', '(SELECT seq FROM turns WHERE id = turn_id)'],
    ] as const) {
      const earlier = `(${turns} - ${seq}) * 60000`;
      tx.run(`UPDATE ${table} SET started_at_ms = started_at_ms - ${earlier}, ended_at_ms = ended_at_ms - ${earlier}`);
    }
    for (let number = 1; number <= messages; number += 1) {
      const body = `## Note ${number}\n\nThe gauge: **3.2 m**.\n\n- one\n- two\n\n\`water.csv\``;
      postMessage(tx, {
        sender: 'user',
        recipient: `worker-${1 + (number % agents)}`,
        priority: 'P1',
        body,
        actor: 'test',
      });
    }
  });
});
afterAll(() => api.close());

async function open(path: string, viewport = desk) {
  const page = await browser.page(await browser.open({ viewport }));
  await page.goto((await linkFor(api, { path })).url);
  await page.getByRole('heading', { name: 'large', level: 1 }).waitFor();
  return page;
}

describe(`a project of ${agents} agents, ${messages} messages and ${turns} turns`, () => {
  test.each(['', '/turns', '/agents', '/log'])('at %p has few nodes', async (path) => {
    const page = await open(`/p/large${path}`);
    await page.getByText('worker-1').first().waitFor({ state: 'attached' });
    expect(await page.locator('*').count()).toBeLessThan(mostNodes);
  });

  test('draws the role of its agents, which opens', async () => {
    const page = await open('/p/large');
    const team = page.getByRole('region', { name: 'Team' });
    await team.getByRole('link', { name: /200 agents/ }).click();
    await page.waitForURL(/\/p\/large\?role=worker$/);
    await team.getByRole('link', { name: '160 more' }).waitFor();
    expect(await page.locator('*').count()).toBeLessThan(mostNodes);
    await team.getByRole('link', { name: 'All roles' }).click();
    await team.getByRole('link', { name: /200 agents/ }).waitFor();
  });

  test('draws the newest of its turns, says so, and zooms by keys', async () => {
    const page = await open('/p/large/turns');
    const lanes = page.getByRole('region', { name: 'Turns', exact: true });
    await lanes.getByText('Only the newest 200 of 1,000 turns are drawn.').waitFor();
    const bars = lanes.locator('a.bar');
    const all = await bars.count();
    await page.keyboard.press('+');
    await lanes.getByText('Only the newest').waitFor({ state: 'detached' });
    const half = await bars.count();
    await page.keyboard.press('+');
    await soon(async () => expect(await bars.count()).toBeLessThan(half));
    expect(half).toBeLessThan(all);
    await page.keyboard.press('-');
    await soon(async () => expect(await bars.count()).toBe(half));
    await page.keyboard.press('-');
    await soon(async () => expect(await bars.count()).toBe(all));
    await page.keyboard.press('?');
    const here = page.getByRole('region', { name: 'On this page' });
    await here.getByText('Zoom into the newest half').waitFor();
    expect(await here.getByText('Zoom out').count()).toBe(0);
    await page.keyboard.press('Escape');
    await lanes.getByRole('link', { name: 'Earlier turns' }).click();
    await page.getByRole('link', { name: 'Newest turns' }).waitFor();
  });

  test.each([
    ['a desk', desk],
    ['a phone', phone],
  ])('shows a thousand threads at %s, a screen of them at a time', async (_name, viewport) => {
    const page = await open('/p/large/mail', viewport);
    const older = page.getByRole('button', { name: 'Older' });
    await older.waitFor();
    // It goes when a thousand are read; meanwhile it may go while it is pressed.
    for (let part = 0; part < 60 && (await older.count()) > 0; part += 1) {
      await older.click({ timeout: 5_000 }).catch(() => undefined);
    }
    await page.getByText('There is more: narrow it').waitFor();
    expect(await page.locator('*').count()).toBeLessThan(mostNodes);
    const first = page.getByRole('listitem').filter({ hasText: `Note ${messages}` });
    await page.evaluate(`document.querySelector('.mailbox-list').scrollTo(0, 0); scrollTo(0, 0)`);
    await first.waitFor();
    expect(await first.getAttribute('aria-setsize')).toBe('1000');
    const last = page.getByRole('listitem').filter({ hasText: `Note ${messages - 999} ` });
    await expect(last.count()).resolves.toBe(0);
    await page.getByText('There is more: narrow it').scrollIntoViewIfNeeded();
    await last.waitFor();
    expect(await first.count()).toBe(0);
    expect(await page.locator('*').count()).toBeLessThan(mostNodes);
  });
});
