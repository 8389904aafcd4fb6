import { afterAll, beforeAll, expect, test } from '@jest/globals';
import type { Page } from 'playwright-core';
import { completeTurn } from '@suzumio/store/turns/complete-turn';
import { failAttempt } from '@suzumio/store/turns/fail-attempt';
import { postMessage } from '@suzumio/store/mail/post-message';
import { type TestApi, testApi } from '../../services/api/test/support/api.js';
import { type FakeToolhost, fakeToolhost } from '../../services/api/test/support/fake-toolhost.js';
import { beginTurn, claim, failTurn, leaveFiles, takeSteps } from '../../services/api/test/support/play.js';
import { linkFor } from '../../services/api/test/support/sign-in.js';
import { teamYaml } from '../../test/support/cell.js';
import { eventually, soon } from '../../test/support/poll.js';
import { desk, go, phone, testBrowser, violations } from './support/browser.js';

const hostile = '\u202Eevil\u200B <img src=x onerror=alert(1)> <script>alert(1)</script>';
const steps = 1_000;

const browser = testBrowser();
let api: TestApi;
let toolhost: FakeToolhost;
beforeAll(async () => {
  toolhost = await fakeToolhost();
  api = await testApi({ toolhostUrls: () => [toolhost.url] });
  for (const name of ['team', 'long', 'live'])
    await api.create(teamYaml.replace('name: team', `name: ${name}\nturn: { maxToolCalls: ${steps} }`));
  // One turn in two attempts, one that failed, one that changed files.
  const ada = await beginTurn(api, 'team', 'ada');
  await takeSteps(api, 'team', { agent: 'ada', ...ada }, [
    { step: '0', tool: 'context.get', input: {}, output: 'It is evening.' },
  ]);
  await api.write('team', (tx) => {
    failAttempt(tx, ada, { failure: { code: 'worker-lost', message: 'The worker river-1 was lost.' } });
    tx.run('UPDATE turns SET not_before_ms = 0');
  });
  const again = await claim(api, 'team', ada.turn);
  await takeSteps(api, 'team', { agent: 'ada', ...again }, [
    { step: '1', tool: 'context.get', input: { about: hostile }, output: hostile },
  ]);
  await api.write('team', (tx) => {
    const mail = { sender: 'ada', recipient: 'cat', priority: 'P1', actor: 'ada', turn: ada.turn } as const;
    postMessage(tx, { ...mail, body: 'Here it is.' });
    completeTurn(tx, again, { output: { text: 'All is **well**.' } });
  });
  await failTurn(api, 'team', 'ben');
  await leaveFiles(api, 'team', 'ada', { 'a.md': 'One.\nLevel: none.\nThree.\n', 'b.bin': Buffer.from([0, 1]) });
  await leaveFiles(api, 'team', 'ada', {
    'a.md': 'One.\nLevel: 2.9 m.\nThree.\n',
    [`${hostile}.md`]: 'x'.repeat(9_000),
  });
  // A turn of many steps, one of which came to a great deal.
  const long = { agent: 'ada', ...(await beginTurn(api, 'long', 'ada')) };
  for (let from = 0; from < steps; from += 100) {
    await takeSteps(
      api,
      'long',
      long,
      Array.from({ length: 100 }, (_, index) => ({
        step: String(from + index),
        tool: 'context.get',
        input: { about: `number ${from + index}` },
        output: from + index === steps - 1 ? 'x'.repeat(1_000_000) : `result ${from + index}`,
      })),
    );
  }
  await api.write('long', (tx) => completeTurn(tx, long, { output: { text: 'Done.' } }));
});
afterAll(async () => {
  await api.close();
  await toolhost.close();
});

async function open(path: string, options: Parameters<typeof browser.open>[0] = { viewport: desk }): Promise<Page> {
  const page = await browser.page(await browser.open(options));
  await page.goto((await linkFor(api, { path })).url);
  await page.getByRole('navigation', { name: 'Suzumio' }).waitFor();
  return page;
}

test('lanes have every attempt, and lead to its turn by the keyboard', async () => {
  const page = await open('/p/team/turns');
  await page.getByText('2 failed attempts').waitFor();
  const bar = page.getByRole('link', { name: /^ada, turn 1: done, .*2 attempts/ });
  await soon(async () => {
    expect(await bar.locator('rect').count()).toBe(2);
  });
  await soon(async () => {
    expect(await bar.locator('.bar-failed-attempt').count()).toBe(1);
  });
  await soon(async () => {
    expect(await page.locator('a.bar[tabindex="0"]').count()).toBe(1);
  });
  await page.locator('a.bar').last().focus();
  await page.keyboard.press('Home');
  await page.keyboard.press('Enter');
  await page.getByRole('heading', { name: 'Turn 1', level: 1 }).waitFor();
  expect(new URL(page.url()).pathname).toBe('/p/team/turns/ada:1');
});

test('the list says of each turn who woke it and what came of it, and its filters are in the address', async () => {
  const page = await open('/p/team/turns');
  await page.getByRole('row', { name: /Benny, turn 1 failed You .* The runner ended with exit code 3/ }).waitFor();
  await page.getByRole('row', { name: /ada, turn 1 done You .* All is/ }).waitFor();
  await page.getByRole('combobox', { name: 'State' }).selectOption('failed');
  await page.getByRole('row', { name: /ada, turn 1/ }).waitFor({ state: 'detached' });
  expect(new URL(page.url()).search).toBe('?status=failed');
  await page.reload();
  await page.getByRole('row', { name: /Benny, turn 1/ }).waitFor();
  expect(await page.getByRole('row').count()).toBe(2);
  await page.getByRole('combobox', { name: 'Agent' }).selectOption('cat');
  await page.getByText('No turn is so.').waitFor();
});

test('a turn is told step by step, and where another attempt went on', async () => {
  const page = await open('/p/team/turns/ada:1');
  await page.getByText('Read 1 message').waitFor();
  await page.getByText('“Please begin.”').waitFor();
  await page.getByText('The worker river-1 was lost. Attempt 2 went on from here.').waitFor();
  await page.getByText('well', { exact: true }).waitFor();
  await page.getByRole('link', { name: 'Mail 1 in, 1 out' }).click();
  await page.getByText('Here it is.').waitFor();
  await page.getByRole('link', { name: /^Attempts/ }).click();
  await page.getByText('worker-lost').waitFor();
  await page.getByRole('link', { name: /^Prompt/ }).click();
  await page.locator('.turn-pane').getByText('Please begin.').waitFor();
  await page.keyboard.press(']');
  await page.getByRole('heading', { name: 'Turn 2', level: 1 }).waitFor();
  await page.keyboard.press('[');
  await page.getByRole('heading', { name: 'Turn 1', level: 1 }).waitFor();
});

test('the files that it has changed are shown as a diff', async () => {
  const page = await open('/p/team/turns/ada:3');
  const rows = page.getByRole('region', { name: 'a.md', exact: true }).getByRole('row');
  await rows.first().waitFor();
  expect((await rows.allInnerTexts()).map((row) => row.split(/\s+/).join(' ').trim())).toEqual([
    '1 1 One.',
    '2 removed − Level: none.',
    '2 added + Level: 2.9 m.',
    '3 3 Three.',
  ]);
  await soon(async () => {
    expect(await page.locator('.diff u').allInnerTexts()).toEqual(['none', '2.9 m']);
  });
  await page.getByText('5,000 more characters').waitFor();
  await page.getByText('b.bin').waitFor();
  // What a model wrote is text, whatever it is.
  await go(page, '/p/team/turns/ada:1');
  await page.getByText('‹202E›evil‹200B› <img src=x').first().click();
  await page.getByText('Result').waitFor();
  expect(await page.locator('.turn img, .turn script').count()).toBe(0);
});

test('a turn of a thousand steps is read in parts, and a long result is cut', async () => {
  const page = await open('/p/long/turns/ada:1');
  await page.getByText('number 0', { exact: true }).waitFor();
  expect(await page.locator('.step').count()).toBeLessThanOrEqual(152);
  await page.getByRole('button', { name: /Later steps/ }).click();
  await page.getByText('number 240', { exact: true }).waitFor();
  expect(await page.locator('.step').count()).toBeLessThanOrEqual(152);
  await page.goto(`${api.url}/p/long/turns/ada:1?step=${steps + 2}`);
  const last = page.locator('details', { hasText: `number ${steps - 1}` });
  await last.getByText(/Show all|Show \d/).waitFor();
  expect((await last.innerText()).length).toBeLessThan(6_000);
  expect(await page.locator('.step').count()).toBeLessThanOrEqual(152);
});

test('a turn that runs is followed until it is scrolled up', async () => {
  const ben = { agent: 'ben', ...(await beginTurn(api, 'live', 'ben')) };
  const page = await open('/p/live/turns/ben:1');
  await page.getByText('running,').waitFor();
  const take = (from: number, count: number) =>
    takeSteps(
      api,
      'live',
      ben,
      Array.from({ length: count }, (_, index) => ({
        step: String(from + index),
        tool: 'context.get',
        input: { about: `number ${from + index}` },
        output: 'ok',
      })),
    );
  await take(0, 60);
  await page.getByText('number 59', { exact: true }).waitFor();
  await page.getByText('Following').waitFor();
  const top = () => page.evaluate<number>(`document.querySelector('.turn-steps').scrollTop`);
  expect(await top()).toBeGreaterThan(0);
  await page.locator('.turn-steps').hover();
  await page.mouse.wheel(0, -600);
  await page.getByRole('button', { name: 'Follow' }).waitFor();
  const before = await top();
  await take(60, 10);
  await page.getByText('number 69', { exact: true }).waitFor();
  expect(await top()).toBe(before);
  await page.getByRole('button', { name: 'Follow' }).click();
  await page.getByText('Following').waitFor();
  await api.write('live', (tx) => completeTurn(tx, ben, { output: { text: 'I am done.' } }));
  await page.getByText('I am done.').waitFor();
});

test('what a running turn says and prints is seen before it is recorded, in one tab', async () => {
  const ada = { agent: 'ada', ...(await beginTurn(api, 'live', 'ada')) };
  const page = await open('/p/live/turns/ada:1');
  const isFollowed = () => eventually('it is followed', () => toolhost.followers.length === 1);
  await isFollowed();
  toolhost.say({ kind: 'model', step: 'ask', text: 'I look ' });
  toolhost.say({ kind: 'model', step: 'ask', text: 'at <b>both</b>.' });
  const live = page.getByRole('region', { name: 'Not yet recorded' });
  await live.getByText('I look at <b>both</b>.').waitFor();
  expect(await violations(page)).toEqual([]);
  for (let line = 0; line < 2_000; line += 1) {
    toolhost.say({ kind: 'output', step: '0', stream: 'stdout', text: `level ${String(line)}\u001b[31m\n` });
  }
  await live.getByText('level 1999').waitFor();
  expect((await live.innerText()).length).toBeLessThan(20_000);
  // A line of 10 MB, as a sandbox prints it.
  for (let part = 0; part < 160; part += 1) {
    toolhost.say({ kind: 'output', step: '0', stream: 'stdout', text: 'x'.repeat(65_536) });
  }
  toolhost.say({ kind: 'output', step: '0', stream: 'stdout', text: ' and its end\n' });
  await live.getByText('and its end').waitFor();
  expect((await live.innerText()).length).toBeLessThan(100_000);
  expect(await page.evaluate<number>('document.documentElement.scrollWidth')).toBeLessThanOrEqual(desk.width);

  const other = await page.context().newPage();
  await other.goto(page.url());
  await page.getByText('They are shown in the tab that was looked at last.').waitFor();
  await isFollowed();
  toolhost.say({ kind: 'output', step: '0', stream: 'stdout', text: 'level 2000\n' });
  await other.getByText('level 2000').waitFor();
  const step = { step: '0', tool: 'context.get', input: { about: 'number 0' }, output: 'ok' };
  await takeSteps(api, 'live', ada, [step]);
  await other.getByText('level 2000').waitFor({ state: 'detached' });
  await api.write('live', (tx) => completeTurn(tx, ada, { output: { text: 'That was all.' } }));
  await other.getByText('That was all.').waitFor();
  await eventually('nobody follows', () => toolhost.followers.length === 0);
});

test('what is redacted is gone from a turn that has ended', async () => {
  const page = await open('/p/team/turns/ben:1');
  await page.getByText('“Please begin.”').waitFor();
  const { items } = (await api.get('/api/projects/team/messages?turn=ben:1')).json as { items: { id: string }[] };
  await api.post(`/api/projects/team/messages/${items[0]?.id ?? ''}/redact`, { because: 'It was a secret.' });
  await page.getByText('“Please begin.”').waitFor({ state: 'detached' });
  await page.getByText('Read 1 message').waitFor();
});

test('a turn that does not exist is said to, with the way on', async () => {
  const page = await open('/p/team/turns/ada:99');
  await page.getByText('There is no turn').waitFor();
  await page.getByRole('link', { name: 'All turns' }).click();
  await page.getByRole('heading', { name: 'All turns' }).waitFor();
  browser.expectErrors(/status of 404/);
});

test('the pages of turns are for everybody', async () => {
  for (const [viewport, paths] of [
    [desk, ['/p/team/turns', '/p/team/turns/ada:1', '/p/team/turns/ada:3']],
    [phone, ['/p/team/turns', '/p/team/turns/ada:1', '/p/team/turns/ada:3?tab=changes']],
  ] as const) {
    const page = await open(paths[0], { viewport });
    for (const path of paths) {
      await go(page, path);
      await page.locator('.turns-link, .step, .diff').first().waitFor();
      expect({ path, violations: await violations(page) }).toEqual({ path, violations: [] });
      const width = await page.evaluate<number>('document.documentElement.scrollWidth');
      expect(width).toBeLessThanOrEqual(viewport.width);
    }
  }
});
