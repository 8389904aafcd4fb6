import { afterAll, beforeAll, describe, expect, test } from '@jest/globals';
import { type TestApi, testApi } from '../../services/api/test/support/api.js';
import { failTurn, payForCall, playTurn } from '../../services/api/test/support/play.js';
import { linkFor } from '../../services/api/test/support/sign-in.js';
import { teamYaml } from '../../test/support/cell.js';
import { soon } from '../../test/support/poll.js';
import { desk, go, phone, testBrowser, violations } from './support/browser.js';

const browser = testBrowser();
let api: TestApi;
const dayMs = 86_400_000;
const dayOf = (ms: number) => new Date(ms).toISOString().slice(0, 10);
const now = Date.now();
const hostile = 'm\u202E<img src=x onerror=alert(1)>';

beforeAll(async () => {
  api = await testApi();
  await api.create();
  await api.create(teamYaml.replace('name: team', 'name: river'));
  await api.create(teamYaml.replace('name: team', 'name: idle'));
  for (const [project, agent] of [
    ['team', 'ada'],
    ['team', 'ben'],
    ['river', 'ada'],
  ] as const) {
    await playTurn(api, project, agent, 'context.get', () => undefined);
    await payForCall(api, project, agent, { usd: 0.75, model: 'opus' });
    await payForCall(api, project, agent, { usd: 0.25, model: hostile, endedAtMs: now - 3 * dayMs });
  }
  await payForCall(api, 'team', 'ada', { usd: 9, model: 'old', endedAtMs: now - 40 * dayMs });
});
afterAll(() => api.close());

async function open(path: string, options: Parameters<typeof browser.open>[0] = { viewport: desk }) {
  const page = await browser.page(await browser.open(options));
  await page.goto((await linkFor(api, { path })).url);
  await page.getByRole('navigation', { name: 'Suzumio' }).waitFor();
  return page;
}

describe('the cost of a project', () => {
  test('is drawn by day of UTC and agent or model, is a table too, and leads to its turns', async () => {
    const page = await open('/p/team/cost');
    const drawing = page.getByRole('img', { name: /Cost on each day of UTC from .* The most: \$1\.50 on/ });
    await drawing.waitFor();
    const days = page.getByRole('group', { name: 'Days as a table' });
    await soon(async () => {
      expect(await days.getByRole('row').allInnerTexts()).toEqual([
        expect.stringMatching(/Day \(UTC\)\s+All\s+ada\s+Benny/),
        expect.stringMatching(new RegExp(`${dayOf(now)}\\s+\\$1\\.50\\s+\\$0\\.75\\s+\\$0\\.75`)),
        expect.stringMatching(new RegExp(`${dayOf(now - 3 * dayMs)}\\s+\\$0\\.50\\s+\\$0\\.25\\s+\\$0\\.25`)),
      ]);
    });
    await page.getByRole('button', { name: 'Models' }).click();
    await days.getByRole('columnheader', { name: 'opus' }).waitFor();
    expect(new URL(page.url()).searchParams.get('by')).toBe('model');
    await days
      .getByRole('row', { name: dayOf(now - 3 * dayMs) })
      .getByRole('link')
      .last()
      .click();
    await page.getByText(`Asked models on ${dayOf(now - 3 * dayMs)} UTC`).waitFor();
    expect(new URL(page.url()).searchParams.get('model')).toBe(hostile);
    await page
      .getByRole('row', { name: /turn 1/ })
      .first()
      .waitFor();
    expect(await page.getByRole('row', { name: /turn 1/ }).count()).toBe(2);
    await page.goBack();
    await page.getByRole('link', { name: 'Earlier days' }).click();
    await days.getByRole('columnheader', { name: 'old' }).waitFor();
    await days.getByText('$9.00').first().waitFor();
  });

  test('without calls says what will stand there', async () => {
    const page = await open('/p/idle/cost');
    await page.getByText('No model was asked yet.').waitFor();
  });
});

test('the cost of all projects is drawn by project, and leads to each', async () => {
  const page = await open('/projects');
  await page.getByRole('link', { name: 'What they cost' }).click();
  const days = page.getByRole('group', { name: 'Days as a table' });
  await days.getByRole('columnheader', { name: 'river' }).waitFor();
  await page.getByRole('button', { name: 'Agents' }).click();
  await days.getByRole('columnheader', { name: 'river / ada' }).waitFor();
  await days.getByRole('link', { name: '$0.25' }).last().click();
  await page.waitForURL(/\/p\/(team|river)\/turns\?/);
});

test('what keeps agents from turns stands on the first page of a project, with what helps', async () => {
  await api.create(teamYaml.replace('name: team', 'name: stuck'));
  await failTurn(api, 'stuck', 'ben');
  await api.post('/api/projects/stuck/agents/cat/pause', { reason: 'too loud' });
  const page = await open('/p/stuck');
  const held = page.getByRole('region', { name: 'Why it is quiet' });
  await held.getByText('suzumio agents retry stuck ben').waitFor();
  await held.getByText('suzumio resume stuck cat').waitFor();
  expect(await held.getByText('too loud').count()).toBe(1);
  await held.getByRole('link', { name: 'Benny' }).click();
  await page.getByText('It failed in turn 1').waitFor();
  await page.getByRole('link', { name: 'Agents', exact: true }).first().waitFor();
  await go(page, '/p/stuck/turns/ben:1');
  await page.getByRole('group', { name: 'Attempts' }).getByText('non-zero-exit').waitFor();
});

test('who did what stands on System and Log, by one of them in the address', async () => {
  const token = await api.token('operate');
  await api.post('/api/projects/river/pause', { reason: 'It is night.' }, { token });
  const page = await open('/system');
  const acts = page.getByRole('region', { name: 'Who did what' });
  await acts
    .getByRole('row', { name: /operate-\d paused the project river/ })
    .getByRole('link', { name: /^operate/ })
    .click();
  await acts.getByText(/suzumio audit --actor operate-\d/).waitFor();
  expect(new URL(page.url()).searchParams.get('by')).toMatch(/^operate-\d$/);
  await soon(async () => {
    expect(await acts.getByRole('row').count()).toBe(2);
  });
  await acts.getByRole('link', { name: 'river' }).click();
  await page.getByRole('row', { name: /paused the project/ }).waitFor();
  await page
    .getByRole('row', { name: /test made the project/ })
    .getByRole('link', { name: 'test' })
    .click();
  await page.getByRole('button', { name: /By test/ }).waitFor();
  await page.getByRole('button', { name: 'Everything' }).click();
  await page.getByText('project.initialized').waitFor();
  expect(await page.getByText('turn.started').count()).toBe(0);
});

test('the setup is read part by part, and no value of a variable or header is in it', async () => {
  await api.create(`
name: keys
task: "Think.\\nTwice."
backend:
  runner:
    mode: ai
    model: only
    models:
      providers: { one: { type: openai-compatible, baseURL: "http://127.0.0.1:9/v1", headers: { X-Team: squirrel-17 } } }
      presets: { only: { provider: one, model: m } }
agents:
  ada: { role: thinker, prompt: Think., env: { DB_DSN: squirrel-18 } }
`);
  const page = await open('/p/keys/setup');
  await page.getByRole('region', { name: 'backend' }).getByText('X-Team:').waitFor();
  await page.getByText('ada', { exact: true }).click();
  await page.getByText('DB_DSN:', { exact: true }).waitFor();
  // Both of them, in the file and in what it was resolved to.
  await soon(async () => {
    expect(await page.locator('.setup-hidden').count()).toBe(4);
  });
  expect(await page.content()).not.toContain('squirrel');
});

test.each([desk, phone])('the pages are for everybody at %o', async (viewport) => {
  const page = await open('/', { viewport });
  for (const [path, part] of [
    ['/p/team/cost', '.days-table'],
    ['/cost?by=model', '.days-table'],
    ['/p/stuck', '.held'],
    ['/system', '.table'],
    ['/p/team/log?what=acts', '.table'],
    ['/p/team/setup', '.setup-yaml'],
  ] as const) {
    await go(page, path);
    await page.locator(part).first().waitFor();
    expect({ path, violations: await violations(page) }).toEqual({ path, violations: [] });
    expect(await page.evaluate<number>('document.documentElement.scrollWidth')).toBeLessThanOrEqual(viewport.width);
  }
});
