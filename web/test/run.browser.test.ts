import { setTimeout as sleep } from 'node:timers/promises';
import { afterAll, beforeAll, describe, expect, test } from '@jest/globals';
import type { Locator, Page } from 'playwright-core';
import { type TestApi, testApi } from '../../services/api/test/support/api.js';
import { failAttempt } from '@suzumio/store/turns/fail-attempt';
import { startTurns } from '@suzumio/store/turns/start-turns';
import { beginTurn, failTurn, leaveFiles, publish } from '../../services/api/test/support/play.js';
import { linkFor } from '../../services/api/test/support/sign-in.js';
import { teamYaml } from '../../test/support/cell.js';
import { freePort } from '../../test/support/free-port.js';
import { soon } from '../../test/support/poll.js';
import { desk, go, testBrowser, violations } from './support/browser.js';

const browser = testBrowser();
let api: TestApi;
beforeAll(async () => {
  api = await testApi({ port: await freePort() });
  await api.create();
});
afterAll(() => api.close());

const named = (name: string) => teamYaml.replace('name: team', `name: ${name}`);

/** A page of somebody who is signed in with a token; the administrator's unless another is given. */
async function open(
  path: string,
  { token = api.adminToken, ...options }: { token?: string; viewport?: typeof desk } = {},
) {
  const page = await browser.page(await browser.open({ viewport: desk, ...options }));
  await page.goto((await linkFor(api, { path }, token)).url);
  await page.getByRole('heading', { level: 1 }).first().waitFor();
  return page;
}

const button = (page: Page, name: string | RegExp) => page.getByRole('button', { name, exact: true });
const dialog = (page: Page) => page.getByRole('dialog');
const focused = (page: Page) =>
  page.evaluate<string>(
    '(document.activeElement.getAttribute("aria-label") ?? document.activeElement.textContent).trim()',
  );

/** How often something happened in a project. */
async function happened(project: string, type: string): Promise<number> {
  const rows = await api.rows<{ count: number }>(
    project,
    `SELECT count(*) AS count FROM events WHERE type = '${type}'`,
  );
  return rows[0]?.count ?? 0;
}

/** Chooses from a menu of the page's head, or of another part. */
async function choose(within: Page | Locator, menu: string, act: string) {
  await within.locator('summary', { hasText: menu }).first().click();
  await within.getByRole('button', { name: act, exact: true }).click();
}

describe('a project', () => {
  test('is started, paused, gone on with and stopped, and says what each will do', async () => {
    await api.create(named('one'), { start: false });
    const page = await open('/p/one');
    expect(await button(page, 'Start').getAttribute('aria-describedby')).not.toBeNull();
    await page.getByText('Its mail starts turns at once.').waitFor();
    expect(await button(page, 'Pause').count()).toBe(0);
    await button(page, 'Start').click();
    await page.getByRole('status').getByText('one runs.').waitFor();
    await button(page, 'Pause').waitFor();
    // What had the focus is gone: it is on the next act.
    await soon(async () => expect(await focused(page)).toMatch(/^Pause/));
    await page.keyboard.press('p');
    await page.getByRole('status').getByText('one is paused.').waitFor();
    await page.locator('.project-title').getByText('paused').waitFor();
    await button(page, 'Resume').click();
    await page.getByRole('status').getByText('one goes on.').waitFor();
    expect([await happened('one', 'project.paused'), await happened('one', 'project.resumed')]).toEqual([1, 1]);
    await choose(page, 'Stop', 'Stop');
    await page.locator('.project-title').getByText('stopped').waitFor();
    await button(page, 'Start').waitFor();
  });

  test('that another has stopped meanwhile says so in place', async () => {
    await api.create(named('two'));
    const page = await open('/p/two');
    await button(page, 'Pause').waitFor();
    await page.locator('summary', { hasText: 'Stop' }).click();
    // The event comes later than the click.
    await page.route('**/api/events*', (route) => route.abort());
    await page.route('**/api/projects/two/stop', async (route) => {
      await api.post('/api/projects/two/stop', {});
      await route.continue();
    });
    await button(page, 'Stop').click();
    await page.getByRole('alert').getByText('The project is stopped, so "stop" is refused').waitFor();
    await button(page, 'Start').waitFor();
    browser.expectErrors(/status of 409|ERR_FAILED/);
  });

  test('is paused once, though the server went away before it answered', async () => {
    await api.create(named('three'));
    const page = await open('/p/three');
    await button(page, 'Pause').waitFor();
    await page.route(
      '**/api/projects/three/pause',
      async (route) => {
        await route.fetch();
        await route.abort();
      },
      { times: 1 },
    );
    await button(page, 'Pause').click();
    await button(page, 'Try again').waitFor();
    await api.api.stop();
    await button(page, 'Try again').click();
    await page.getByRole('alert').first().waitFor();
    await api.api.start();
    await button(page, 'Try again').first().click();
    await page.getByRole('status').getByText('three is paused.').waitFor();
    expect(await happened('three', 'project.paused')).toBe(1);
    await button(page, 'Resume').waitFor();
    browser.expectErrors(/ERR_|Failed to load/);
  });

  test('gets labels, and loses them', async () => {
    const page = await open('/p/team');
    await choose(page, 'More', 'Labels…');
    await dialog(page).getByLabel('Name').fill('no good!');
    await dialog(page).getByLabel('Text').fill('night');
    await button(page, 'Set').click();
    await dialog(page)
      .getByRole('alert')
      .getByText(/a label is called by/)
      .waitFor();
    expect(await dialog(page).getByLabel('Text').inputValue()).toBe('night');
    await dialog(page).getByLabel('Name').fill('shift');
    await button(page, 'Set').click();
    await dialog(page).getByRole('status').getByText('shift is set.').waitFor();
    await page.locator('.facts').getByText('shift').waitFor();
    await button(page, 'Remove shift').click();
    await dialog(page).getByText('It has none.').waitFor();
    await page.keyboard.press('Escape');
    await dialog(page).waitFor({ state: 'detached' });
    await soon(async () => expect(await focused(page)).toBe('More'));
    browser.expectErrors(/status of 400/);
  });

  test('has its budget raised, and an agent its own', async () => {
    const page = await open('/p/team/cost');
    await button(page, 'Change the budget of the project').click();
    await dialog(page)
      .getByText(/used without limit/)
      .first()
      .waitFor();
    await dialog(page).getByLabel('Turns').fill('-3');
    await button(page, 'Set the budget').click();
    await dialog(page).getByRole('alert').getByText(/turns/).waitFor();
    await dialog(page).getByLabel('Turns').fill('many');
    await button(page, 'Set the budget').click();
    await dialog(page).getByText('Turns: a number, or the word "unlimited".').waitFor();
    await dialog(page).getByLabel('Turns').fill('30');
    await button(page, 'Set the budget').click();
    await dialog(page).getByText('The budget is changed.').waitFor();
    await dialog(page)
      .getByText(/of 30$/)
      .waitFor();
    await button(page, 'Close').click();
    await go(page, '/p/team/agents/ben');
    await page.getByRole('group', { name: 'Run Benny' }).locator('summary').click();
    await button(page, 'Change its budget…').click();
    await dialog(page).getByLabel('Tokens').fill('5000');
    await page.keyboard.press('Enter');
    await dialog(page)
      .getByText(/of 5,000$/)
      .waitFor();
    browser.expectErrors(/status of 400/);
  });

  test('goes on where its budget was used up and is raised, from what waits in the inbox', async () => {
    await api.create(`${named('spent')}\nbudget: { turns: 1 }`);
    await failTurn(api, 'spent', 'ben');
    await api.post('/api/projects/spent/messages', { recipient: 'ada', priority: 'P1', body: 'Please go on.' });
    const begins = () => api.write('spent', (tx) => startTurns(tx).length);
    expect(await begins()).toBe(0);
    const page = await open('/');
    await page
      .getByRole('region', { name: 'Items' })
      .getByRole('link', { name: /1 turns? of 1 turns? is used.*spent/ })
      .click();
    await page.getByRole('link', { name: 'Raise the budget' }).click();
    await button(page, 'Change the budget of the project').click();
    await dialog(page).getByLabel('Turns').fill('5');
    api.wakes.length = 0;
    await button(page, 'Set the budget').click();
    await dialog(page).getByText('The budget is changed.').waitFor();
    await button(page, 'Close').click();
    // A scheduler is told, and what it does is on the page.
    expect([api.wakes.includes('spent'), await begins()]).toEqual([true, 1]);
    await go(page, '/p/spent/agents/ada');
    await page.locator('.agent-head').getByText('turn 1 is next').waitFor();
  });

  test('is stopped now, which ends what runs', async () => {
    await api.create(named('now'));
    const { turn } = await beginTurn(api, 'now', 'ada');
    const page = await open('/p/now');
    await page.locator('.project-title').getByText('running').waitFor();
    await page.locator('summary', { hasText: 'Stop' }).click();
    await page.getByText('The same, and 1 turn is cancelled: what has run is ended at once.').waitFor();
    await button(page, 'Stop now').click();
    await page.locator('.project-title').getByText('stopped').waitFor();
    expect(await api.rows('now', `SELECT status FROM turns WHERE id = '${turn}'`)).toEqual([{ status: 'cancelled' }]);
    await button(page, 'Start').waitFor();
    expect(await button(page, 'Pause').count()).toBe(0);
    browser.expectErrors(/status of 503/);
  });

  test('is deleted by its name, and by no other', async () => {
    await api.create(named('four'));
    const page = await open('/p/four');
    await choose(page, 'More', 'Delete…');
    await dialog(page)
      .getByText(/It cannot be had back/)
      .waitFor();
    await dialog(page).getByRole('textbox').fill('fore');
    await page.keyboard.press('Enter');
    await dialog(page).getByText('That is not its name: nothing was done.').waitFor();
    expect((await api.get('/api/projects/four')).status).toBe(200);
    await dialog(page).getByRole('textbox').fill('four');
    await button(page, 'Delete for good').click();
    await dialog(page)
      .getByText(/is no more/)
      .waitFor();
    await soon(async () => expect(await focused(page)).toBe('All projects'));
    await page.keyboard.press('Enter');
    await page.waitForURL(`${api.url}/projects`);
    expect((await api.get('/api/projects/four')).status).toBe(404);
    browser.expectErrors(/status of 404/);
  });
});

describe('an agent', () => {
  test('that failed is retried from its reason; a running turn is cancelled, and tried again', async () => {
    await failTurn(api, 'team', 'cat');
    const page = await open('/p/team/agents/cat');
    const why = page.getByRole('region', { name: 'Why it is quiet' });
    await why.getByRole('button', { name: 'Retry', exact: true }).click();
    await page.locator('.agent-head').getByText('turn 1 is next').waitFor();
    await beginTurn(api, 'team', 'ada');
    await go(page, '/p/team/turns/ada:1');
    // What the agent may do next is heard of after what has become of its turn.
    await page.route(/\/api\/projects\/team(\?.*)?$/, async (route) => {
      await sleep(700);
      await route.continue();
    });
    await button(page, 'Cancel turn').click();
    await page.getByRole('status').getByText('Turn 1 is cancelled.').waitFor();
    await button(page, 'Retry').waitFor();
    await soon(async () => expect(await focused(page)).toMatch(/^Retry/));
    await page.keyboard.press('r');
    await page.getByRole('status').getByText('The turn is queued again.').waitFor();
    await button(page, 'Cancel turn').click();
    await button(page, 'Retry').waitFor();
    // Nothing here tells what a turn does while it runs.
    browser.expectErrors(/status of 503/);
  });

  test('is stopped, at once where it is at work, started, paused and gone on with', async () => {
    await api.create(named('one-by-one'));
    const { turn } = await beginTurn(api, 'one-by-one', 'ada');
    const page = await open('/p/one-by-one/agents/ada');
    const said = (words: string) => page.getByRole('status').getByText(words).waitFor();
    await choose(page.locator('.agent-head'), 'More', 'Stop');
    await said('ada stops after its turn.');
    await choose(page.locator('.agent-head'), 'More', 'Stop now');
    await said('ada is stopped.');
    expect(await api.rows('one-by-one', `SELECT status FROM turns WHERE id = '${turn}'`)).toEqual([
      { status: 'cancelled' },
    ]);
    await page.locator('.agent-head').getByRole('button', { name: 'Start' }).click();
    await said('ada starts turns again.');
    const run = page.getByRole('group', { name: 'Run ada' });
    await run.getByRole('button', { name: 'Pause' }).click();
    await said('ada is paused.');
    await run.getByRole('button', { name: 'Resume' }).click();
    await said('ada goes on.');
    expect(
      await api.rows(
        'one-by-one',
        `SELECT type FROM events WHERE agent_id = 'ada' AND type LIKE 'agent.%' ORDER BY seq`,
      ),
    ).toEqual(
      ['agent.stopped', 'agent.stopped', 'agent.started', 'agent.paused', 'agent.resumed'].map((type) => ({ type })),
    );
  });

  test('whose failed turn is given up is free for other mail, and that stays as it is', async () => {
    await api.create(named('given-up'));
    const turn = await failTurn(api, 'given-up', 'cat');
    const page = await open('/p/given-up/agents/cat');
    await page.getByRole('group', { name: 'Run cat' }).locator('summary', { hasText: 'More' }).click();
    await page.getByText('It is free for other mail. The failed turn stays as it is').waitFor();
    await button(page, 'Give the turn up').click();
    await page.getByRole('status').getByText('cat is free for other mail.').waitFor();
    await page.getByRole('group', { name: 'Run cat' }).getByRole('button', { name: 'Pause' }).waitFor();
    expect(await button(page, 'Retry').count()).toBe(0);
    expect(await api.rows('given-up', `SELECT status FROM turns WHERE id = '${turn}'`)).toEqual([{ status: 'failed' }]);
    const { turn: next } = await beginTurn(api, 'given-up', 'cat');
    expect(next).not.toBe(turn);
  });

  test('whose turn was cancelled before it began has nothing to try again', async () => {
    await api.create(named('early'));
    await api.post('/api/projects/early/messages', { recipient: 'ada', priority: 'P1', body: 'Please begin.' });
    await api.write('early', (tx) => {
      startTurns(tx);
    });
    const page = await open('/p/early/turns/ada:1');
    await button(page, 'Cancel turn').click();
    await page.getByRole('status').getByText('Turn 1 is cancelled.').waitFor();
    await button(page, 'Cancel turn').waitFor({ state: 'detached' });
    await page.getByText('cancelled', { exact: true }).first().waitFor();
    expect(await button(page, 'Retry').count()).toBe(0);
  });

  test('that a retry would not help has its mail delivered again: from its page, its turn or the system', async () => {
    await api.create(named('limits'));
    const overdo = async () => {
      const begun = await beginTurn(api, 'limits', 'ada');
      const failure = { code: 'step-limit' as const, message: 'All steps are taken.' };
      await api.write('limits', (tx) => failAttempt(tx, begun, { failure }));
    };
    await overdo();
    const page = await open('/p/limits/agents/ada');
    const run = page.getByRole('group', { name: 'Run ada' });
    await run.getByRole('button', { name: 'Begin again' }).click();
    await page.getByRole('status').getByText('Its mail is unread again.').waitFor();
    await overdo();
    await go(page, '/p/limits/turns/ada:2');
    await button(page, 'Begin again').waitFor();
    expect(await button(page, 'Retry').count()).toBe(0);
    await page.keyboard.press('r');
    await page.getByRole('status').getByText('Its mail is unread again.').waitFor();
    await overdo();
    await go(page, '/system');
    const row = page.getByRole('region', { name: 'Failed agents' }).getByRole('row').filter({ hasText: 'limits' });
    await row.getByText('suzumio agents reset limits ada --redeliver').waitFor();
    await row.getByRole('button', { name: 'Begin again' }).click();
    await row.waitFor({ state: 'detached' });
    expect(await happened('limits', 'agent.reset')).toBe(3);
  });

  test('is paused with P on its own page, and its mail is delivered again from the letter and the system', async () => {
    await api.create(named('five'));
    await failTurn(api, 'five', 'ada');
    await failTurn(api, 'five', 'ben');
    const page = await open('/p/five/agents/cat');
    await page.getByRole('group', { name: 'Run cat' }).getByRole('button', { name: 'Pause' }).waitFor();
    await page.keyboard.press('p');
    await page.getByRole('status').getByText('cat is paused.').waitFor();
    expect([await happened('five', 'project.paused'), await happened('five', 'agent.paused')]).toEqual([0, 1]);
    await go(page, '/p/five/mail/1');
    await button(page, 'Deliver again').click();
    await page.getByRole('status').getByText('It is unread again.').waitFor();
    await go(page, '/system');
    const row = page.getByRole('region', { name: 'Undelivered mail' }).getByRole('row').filter({ hasText: 'in five' });
    await row.getByRole('button', { name: 'Deliver again' }).click();
    await row.waitFor({ state: 'detached' });
    expect(await happened('five', 'message.redelivered')).toBe(2);
  });

  test('gets its files back, after those that change were shown', async () => {
    await api.create(named('six'));
    await leaveFiles(api, 'six', 'ada', { 'a.md': 'One.\n', 'b.md': 'Same.\n' });
    await leaveFiles(api, 'six', 'ada', { 'b.md': 'Same.\n', 'c.md': 'Two.\n' });
    const page = await open('/p/six/workspace/ada?turn=2');
    await page.getByRole('list', { name: 'Files' }).getByText('c.md').waitFor();
    expect(await button(page, 'Restore these files…').count()).toBe(0);
    await page.getByLabel('When').selectOption({ label: 'after turn 1' });
    await button(page, 'Restore these files…').click();
    const files = dialog(page).getByRole('list', { name: 'Files that change' });
    await files.getByRole('listitem').first().waitFor();
    expect(await files.getByRole('listitem').allInnerTexts()).toEqual([
      expect.stringMatching(/added\s+a\.md/),
      expect.stringMatching(/removed\s+c\.md/),
    ]);
    await button(page, 'Restore').click();
    await dialog(page).getByText('They are as they were after turn 1: 1 file added, 1 removed.').waitFor();
    await button(page, 'Close').click();
    await page.getByLabel('When').selectOption({ label: 'as they are now' });
    await page.getByRole('list', { name: 'Files' }).getByText('a.md').waitFor();
    await page.getByLabel('When').selectOption({ label: 'before the first turn' });
    await button(page, 'Restore these files…').click();
    await dialog(page)
      .getByText(/^2 removed/)
      .waitFor();
  });
});

test('the text of a message and the content of a file go for good, once they were shown', async () => {
  await api.create(named('seven'));
  await api.post('/api/projects/seven/messages', { recipient: 'ada', body: 'The key is hunter2, keep it.' });
  const { id } = await publish(api, 'seven', 'ben', { name: 'keys.txt', content: Buffer.from('hunter2 and more') });
  const page = await open('/p/seven/mail/1');
  await page.getByRole('group', { name: 'Message 1' }).getByText('More', { exact: true }).click();
  await button(page, 'Remove its text…').click();
  await dialog(page).getByText('The key is hunter2, keep it.').waitFor();
  await dialog(page).getByLabel('Why').fill('A key stood in it.');
  await button(page, 'Remove for good').click();
  await dialog(page)
    .getByText(/It is removed/)
    .waitFor();
  await button(page, 'Close').click();
  await page.getByText('Its text was removed.').waitFor();
  expect(await page.getByText('hunter2').count()).toBe(0);
  await go(page, `/p/seven/files/${id}`);
  await page.locator('#content summary', { hasText: 'More' }).nth(1).click();
  await button(page, 'Remove its content…').click();
  await dialog(page).getByText('hunter2 and more').waitFor();
  await button(page, 'Remove for good').click();
  await dialog(page)
    .getByText(/It is removed/)
    .waitFor();
  await button(page, 'Close').click();
  await page.getByText('Its content was removed.').waitFor();
  browser.expectErrors(/status of 4/);
});

test('a token sees the acts that its scope allows', async () => {
  const reader = await open('/p/team', { token: await api.token('read') });
  await reader.getByRole('region', { name: 'Team' }).waitFor();
  await go(reader, '/p/team/agents/ada');
  await reader.getByText('How it was made').waitFor();
  expect(await reader.locator('.bar button, summary.button').count()).toBe(0);
  const operator = await open('/p/team', { token: await api.token('operate') });
  await button(operator, 'Pause').waitFor();
  await operator.locator('summary', { hasText: 'More' }).click();
  await button(operator, 'Labels…').waitFor();
  expect(await button(operator, 'Delete…').count()).toBe(0);
});

test('what holds for all projects is undone by those whose token is for all of them', async () => {
  await api.create(named('night'));
  await api.post('/api/projects/night/messages', { recipient: 'ada', priority: 'P1', body: 'Good night.' });
  await api.post('/api/pause', { reason: 'It is night.' });
  const ofOne = await open('/p/night/agents/ada', { token: await api.token('admin', 'night') });
  await ofOne.getByRole('region', { name: 'Why it is quiet' }).getByText('It is night.').first().waitFor();
  expect(await button(ofOne, 'Resume everything').count()).toBe(0);
  const ofAll = await open('/p/night/agents/ada');
  await button(ofAll, 'Resume everything').waitFor();
  // What is out of sight is not asked again after a while: what the act changes is.
  await ofAll.evaluate(`Object.defineProperty(document, 'visibilityState', { get: () => 'hidden' });
    window.dispatchEvent(new Event('visibilitychange'))`);
  await button(ofAll, 'Resume everything').click();
  await ofAll.getByText('It is night.').first().waitFor({ state: 'detached' });
});

test('acts are for everybody', async () => {
  const page = await open('/p/team');
  const check = async (what: string) =>
    expect({ what, violations: await violations(page) }).toEqual({ what, violations: [] });
  await button(page, 'Pause').waitFor();
  await page.locator('summary', { hasText: 'More' }).click();
  await check('menu');
  for (const act of ['Labels…', 'Change its budget…', 'Delete…']) {
    if (!(await button(page, act).isVisible())) await page.locator('summary', { hasText: 'More' }).click();
    await button(page, act).click();
    await dialog(page).waitFor();
    await check(act);
    await page.keyboard.press('Escape');
  }
  for (const path of ['/agents/ada', '/turns/ada:1', '/cost', '/mail/1']) {
    await go(page, `/p/team${path}`);
    await page.locator('.bar button, .budgets button').first().waitFor();
    await check(path);
  }
});
