import { afterAll, beforeAll, describe, expect, test } from '@jest/globals';
import type { Page } from 'playwright-core';
import { postMessage } from '@suzumio/store/mail/post-message';
import { type TestApi, testApi } from '../../services/api/test/support/api.js';
import { failTurn, submit } from '../../services/api/test/support/play.js';
import { linkFor } from '../../services/api/test/support/sign-in.js';
import { teamYaml } from '../../test/support/cell.js';
import { eventually, soon } from '../../test/support/poll.js';
import { desk, phone, testBrowser, violations } from './support/browser.js';

const browser = testBrowser();
let api: TestApi;
beforeAll(async () => {
  api = await testApi();
});
afterAll(() => api.close());

/** A project whose report was submitted so often. */
async function submitted(name: string, versions = 1): Promise<string> {
  await api.create(`${teamYaml.replace('name: team', `name: ${name}`)}\nturn: { maxAttempts: 1 }`);
  await submit(api, name, 'ben', `# ${name} one\n`);
  for (let version = 2; version <= versions; version += 1) await submitAgain(name, version);
  return name;
}

async function submitAgain(name: string, version: number): Promise<void> {
  await api.post(`/api/projects/${name}/request-changes`, { recipient: 'ben', body: 'More.' });
  await submit(api, name, 'ben', `# ${name} ${version}\n`);
}

async function open(path: string, options: Parameters<typeof browser.open>[0] = { viewport: desk }, token?: string) {
  const page = await browser.page(await browser.open(options));
  // It stays for later tests, of which each has one.
  await page.clock.install();
  await page.goto((await linkFor(api, { path }, token)).url);
  await page.getByRole('navigation', { name: 'Suzumio' }).waitFor();
  return page;
}

/** Sends what can be taken back until then. */
const sendNow = (page: Page) => page.clock.fastForward(4_000);
const status = async (name: string) =>
  ((await api.get(`/api/projects/${name}`)).json as { project: { status: string } }).project.status;
const becomes = (name: string, wanted: string) =>
  eventually(`${name} is ${wanted}`, async () => (await status(name)) === wanted);
const button = (page: Page, name: string | RegExp) => page.getByRole('button', { name });
const item = (page: Page, name: string | RegExp) =>
  page.getByRole('region', { name: 'Items' }).getByRole('link', { name });
const focused = (page: Page) => page.evaluate<string>('document.activeElement.textContent');

/** A report's page while what is to be changed counts down to being sent. */
async function sendingBack(name: string) {
  const page = await open(`/p/${name}/report`);
  await button(page, /^Request changes/).click();
  const text = page.getByRole('textbox', { name: /What is to be changed/ });
  await text.fill('A figure is missing.');
  await page.keyboard.press('Control+Enter');
  await button(page, /^Take back/).waitFor();
  return { page, text };
}

describe('a report', () => {
  test('is approved after a while, until which it can be taken back by a key and a button', async () => {
    const name = await submitted('tides', 2);
    const page = await open(`/p/${name}/report`);
    await button(page, /^Approve/).waitFor();
    await page.getByText('Approving version 2 completes tides').waitFor();
    await button(page, /^Approve/).click();
    await page.getByText('Approving tides’s report, version 2').first().waitFor();
    await page.keyboard.press('z');
    await button(page, /^Approve/).waitFor();
    await page.keyboard.press('a');
    await button(page, /^Take back/).click();
    await button(page, /^Approve/).waitFor();
    expect(await status(name)).toBe('submitted');

    await page.keyboard.press('a');
    // On another page of the same it goes on, and says so there.
    await page.getByRole('link', { name: 'Log', exact: true }).click();
    await page.getByRole('region', { name: 'Under way' }).getByText('Approving tides’s report').waitFor();
    expect(await status(name)).toBe('submitted');
    await sendNow(page);
    await becomes(name, 'completed');
    await page.getByRole('region', { name: 'Under way' }).getByText('You approved tides’s report, version 2').waitFor();
    const [event] = await api.rows(
      name,
      `SELECT actor, data_json AS data FROM events WHERE type = 'project.completed'`,
    );
    expect(event).toMatchObject({ data: expect.stringContaining('"version":2') });
  });

  test('is approved four seconds after it was asked for, and not before', async () => {
    const name = await submitted('neap');
    const page = await browser.page(await browser.open());
    await page.clock.install();
    await page.goto((await linkFor(api, { path: `/p/${name}/report` })).url);
    await button(page, /^Approve/).waitFor();
    const sent: string[] = [];
    page.on('request', (request) => {
      if (request.method() === 'POST') sent.push(new URL(request.url()).pathname);
    });
    await page.clock.pauseAt(Date.now() + 60_000);
    await page.keyboard.press('a');
    await button(page, /^Take back/).waitFor();
    await page.clock.runFor(3_999);
    await button(page, /^Take back/).waitFor();
    expect([sent, await status(name)]).toEqual([[], 'submitted']);
    await page.clock.runFor(1);
    await becomes(name, 'completed');
    expect(sent).toEqual([`/api/projects/${name}/approve`]);
    await page.clock.resume();
    await page.getByText('You approved neap’s report, version 1').first().waitFor();
    await page.context().close();
  });

  test('whose newer version came while the decision was on its way says so in place, in the words of the server', async () => {
    const name = await submitted('bore');
    const page = await open(`/p/${name}/report`);
    await button(page, /^Approve/).waitFor();
    await page.route(`**/api/projects/${name}/approve`, async (route) => {
      await submitAgain(name, 2);
      await route.continue();
    });
    await page.keyboard.press('a');
    await button(page, /^Take back/).waitFor();
    await sendNow(page);
    const alert = page.getByRole('group', { name: 'Decide on version 1' }).getByRole('alert');
    await alert.getByText('Version 2 of the report is the newest, so a decision on version 1 is refused').waitFor();
    await page.getByRole('heading', { name: 'bore one' }).waitFor();
    expect([await status(name), await button(page, /^Approve/).count()]).toEqual(['submitted', 0]);
    await page.getByRole('link', { name: 'Show version 2' }).click();
    await page.getByRole('heading', { name: 'bore 2' }).waitFor();
    await button(page, /^Approve/).waitFor();
    browser.expectErrors(/status of 409/);
  });

  test('approved while what is to be changed is written is not sent back unless that is meant', async () => {
    const name = await submitted('seiche');
    const page = await open(`/p/${name}/report`);
    await button(page, /^Request changes/).click();
    const text = page.getByRole('textbox', { name: /What is to be changed/ });
    await text.fill('A figure is missing.');
    await api.post(`/api/projects/${name}/approve`, { version: 1 });
    await page.getByText(/admin approved version 1 .*, while you wrote\. Nothing was sent\./).waitFor();
    expect(await button(page, 'Send back').count()).toBe(0);
    expect(await text.inputValue()).toBe('A figure is missing.');
    await button(page, 'Send it back all the same').click();
    await button(page, 'Send back').click();
    await sendNow(page);
    await becomes(name, 'running');
  });

  test('of two tabs that decide in one second one wins, and the other says who did what', async () => {
    const name = await submitted('surge');
    const [one, other] = [await open(`/p/${name}/report`), await open(`/p/${name}/report`)];
    // Neither hears of the other before it has asked.
    for (const page of [one, other]) {
      await button(page, /^Approve/).waitFor();
      await page.route('**/api/events/stream*', (route) => route.abort());
    }
    await button(other, /^Request changes/).click();
    await other.getByRole('textbox', { name: /What is to be changed/ }).fill('More.');
    const held = Promise.withResolvers<void>();
    await other.route(`**/api/projects/${name}/request-changes`, async (route) => {
      await held.promise;
      await route.continue();
    });
    await other.keyboard.press('Control+Enter');
    await button(other, /^Take back/).waitFor();
    await sendNow(other);
    await one.keyboard.press('a');
    await button(one, /^Take back/).waitFor();
    await sendNow(one);
    await becomes(name, 'completed');
    held.resolve();
    await other
      .getByRole('alert')
      .getByText(/admin approved version 1 of the report at .* is refused/)
      .first()
      .waitFor();
    expect(await status(name)).toBe('completed');
    browser.expectErrors(/status of 409|ERR_FAILED/);
  });

  test('says beside Approve that a letter is unread, and leads to it', async () => {
    const name = await submitted('eddy');
    const page = await open(`/p/${name}/report`);
    await button(page, /^Approve/).waitFor();
    expect(await page.getByText('is unread').count()).toBe(0);
    await api.write(name, (tx) =>
      postMessage(tx, { sender: 'ben', recipient: 'user', priority: 'P1', body: 'Wait for me.', actor: 'ben' }),
    );
    await page.getByText('A letter to you from this project is unread.').waitFor();
    await page.getByRole('link', { name: 'Read it' }).click();
    await page.getByText('Wait for me.').first().waitFor();
  });

  test.each([phone, { width: 820, height: 410 }, { width: 720, height: 450 }])(
    'has lines of it in view beside what decides, at %o, also while changes are written',
    async (viewport) => {
      const name = await submitted(`zoom-${viewport.width}`);
      const page = await open(`/p/${name}/report`, { viewport });
      await button(page, /^Approve/).waitFor();
      const heading = await page.getByRole('heading', { name: `${name} one` }).boundingBox();
      const foot = await page.locator('.report-foot').boundingBox();
      expect((heading?.y ?? 0) + 60).toBeLessThan(foot?.y ?? 0);
      const head = await page.locator('.project-head').boundingBox();
      expect(head?.height).toBeLessThan(viewport.height < 500 ? 90 : 130);
      await button(page, /^Request changes/).click();
      await page.setViewportSize({ width: viewport.width, height: 430 });
      await soon(async () => {
        const [field, send] = await Promise.all([
          page.getByRole('textbox', { name: /What is to be changed/ }).boundingBox(),
          button(page, 'Send back').boundingBox(),
        ]);
        expect(field?.y).toBeGreaterThanOrEqual(0);
        expect((send?.y ?? 0) + (send?.height ?? 0)).toBeLessThanOrEqual(430);
      });
    },
  );

  test('is decided on at once where the page is closed', async () => {
    const [closed, left] = [await submitted('ebb'), await submitted('flow')];
    const page = await open(`/p/${closed}/report`);
    await button(page, /^Approve/).click();
    await button(page, /^Take back/).waitFor();
    await page.goto(`${api.url}/p/${left}/report`);
    expect(await status(closed)).toBe('completed');
    await button(page, /^Request changes/).click();
    await page.getByRole('textbox', { name: /What is to be changed/ }).fill('Name the gauge.');
    await page.keyboard.press('Control+Enter');
    await button(page, /^Take back/).waitFor();
    await page.close({ runBeforeUnload: true });
    await becomes(left, 'running');
  });

  test('is sent back to who submitted it, with what was written', async () => {
    const name = await submitted('gauge');
    const page = await open(`/p/${name}/report`);
    await button(page, /^Approve/).waitFor();
    await page.keyboard.press('c');
    const text = page.getByRole('textbox', { name: /What is to be changed in version 1/ });
    await text.fill('Name the gauge, azjk.');
    await page.getByText('Benny reads it as mail, and gauge runs again.').waitFor();
    // Letters are text where text is written, and a draft is there after another page.
    await page.getByRole('link', { name: 'Log', exact: true }).click();
    await page.getByRole('link', { name: 'Report', exact: true }).click();
    await soon(async () => {
      expect(await text.inputValue()).toBe('Name the gauge, azjk.');
    });
    await button(page, /^Send back/).click();
    await page.keyboard.press('z');
    await soon(async () => {
      expect(await text.inputValue()).toBe('Name the gauge, azjk.');
    });
    await button(page, /^Send back/).click();
    await button(page, /^Take back/).waitFor();
    await sendNow(page);
    await becomes(name, 'running');
    expect(
      await api.rows(name, `SELECT recipient, body FROM messages WHERE sender = 'user' ORDER BY seq DESC LIMIT 1`),
    ).toEqual([{ recipient: 'ben', body: 'Name the gauge, azjk.' }]);
    await page.getByText('You sent gauge’s report, version 1, back').last().waitFor();
  });

  test('that has a newer version is decided on by nobody, and nothing that was written is lost', async () => {
    const name = await submitted('weir');
    const { page, text } = await sendingBack(name);
    await submitAgain(name, 2);
    await page.getByText('Not done.').waitFor();
    expect(await text.inputValue()).toBe('A figure is missing.');
    await page.getByRole('heading', { name: 'weir one' }).waitFor();
    expect(await button(page, /^(Approve|Send back)/).count()).toBe(0);
    await page.getByRole('link', { name: 'Show version 2' }).click();
    await page.getByRole('heading', { name: 'weir 2' }).waitFor();
    expect(await text.inputValue()).toBe('A figure is missing.');
    await button(page, /^Send back/).waitFor();
  });

  test('is sent back with files, which are published when it is, and the page says who works on it', async () => {
    const name = await submitted('brook');
    const page = await open(`/p/${name}/report`);
    await button(page, /^Request changes/).click();
    await page.getByRole('textbox', { name: /What is to be changed/ }).fill('Take these readings.');
    await page
      .locator('.changes-form input[type=file]')
      .setInputFiles({ name: 'readings.csv', mimeType: 'text/csv', buffer: Buffer.from('1\n') });
    await page.getByRole('list', { name: 'Attached files' }).getByText('readings.csv').waitFor();
    expect(await api.rows(name, 'SELECT name FROM artifacts')).toEqual([]);
    await button(page, /^Send back/).click();
    await button(page, /^Take back/).click();
    // What has gone up is not sent once more.
    await page.getByText('uploaded').waitFor();
    await button(page, /^Send back/).click();
    await button(page, /^Take back/).waitFor();
    await sendNow(page);
    await becomes(name, 'running');
    expect(await api.rows(name, 'SELECT name FROM artifacts')).toEqual([{ name: 'readings.csv' }]);
    const { items } = (await api.get(`/api/projects/${name}/messages?order=desc&limit=1`)).json as {
      items: { body: string; attachments: { name: string }[] }[];
    };
    expect(items[0]).toMatchObject({ body: 'Take these readings.', attachments: [{ name: 'readings.csv' }] });
    await page.getByText('admin sent version 1 back to Benny').waitFor();
  });

  test('that is approved while somebody else sends it back stays approved, and they are told', async () => {
    const name = await submitted('strait');
    const { page, text } = await sendingBack(name);
    await api.post(`/api/projects/${name}/approve`, { version: 1 });
    await page.getByText('strait was approved meanwhile, so this was not sent.').waitFor();
    expect(await text.inputValue()).toBe('A figure is missing.');
    expect(await status(name)).toBe('completed');
    // Who has read that may open it again.
    await button(page, /^Send back/).click();
    await button(page, /^Take back/).waitFor();
    await sendNow(page);
    await becomes(name, 'running');
  });

  test('that two people decide on is decided on by the first, and the other is told', async () => {
    const name = await submitted('delta');
    await submitted('inlet');
    const [one, other] = await Promise.all([open('/'), open('/', { viewport: desk }, await api.token('operate'))]);
    for (const page of [one, other]) {
      await item(page, /delta/).first().click();
      await button(page, /^Approve/).waitFor();
    }
    await Promise.all([one, other].map((page) => page.keyboard.press('a')));
    for (const page of [one, other]) await button(page, /^Take back/).waitFor();
    await Promise.all([one, other].map(sendNow));
    await Promise.all([one, other].map((page) => page.getByText('This is settled.').waitFor()));
    await becomes(name, 'completed');
    await eventually('one is told', async () => {
      const refused = await Promise.all(
        [one, other].map((page) =>
          page.getByText(/approved version 1 of the report at .* is refused|was approved meanwhile/).count(),
        ),
      );
      return refused.reduce((sum, number) => sum + number, 0) === 1;
    });
    browser.expectErrors(/status of 409/);
    await one.getByText(/The report was approved, version 1, by (admin|operate-1)/).waitFor();
    // What comes next has the focus.
    await soon(async () => expect(await focused(one)).toContain('inlet'));
    await one.keyboard.press('Enter');
    await one.getByRole('heading', { name: 'inlet one' }).waitFor();
  });
});

describe('the inbox', () => {
  test('has the act of each kind that needs nothing more, and loses what others settle', async () => {
    await api.create(`${teamYaml.replace('name: team', 'name: lock')}\nturn: { maxAttempts: 1 }`);
    await failTurn(api, 'lock', 'ben');
    await api.post('/api/projects/lock/pause', { reason: 'It is night.' });
    const page = await open('/');
    await item(page, /The project is paused/).click();
    await page.getByText('lock gets turns again.').waitFor();
    await button(page, /^Resume/).click();
    await page.getByText('The project was resumed, by').waitFor();
    await item(page, /Benny failed/).click();
    await button(page, /^Retry/).waitFor();
    await page.keyboard.press('r');
    await page.getByText('Turn 1 of Benny was retried, by').waitFor();
    expect(await item(page, /Benny failed/).count()).toBe(0);

    await submit(api, 'lock', 'ada', '# Lock\n');
    await item(page, /lock.*Read it/).click();
    await button(page, /^Approve/).waitFor();
    await api.post('/api/projects/lock/approve', {});
    await page.getByText('This is settled.').waitFor();
    await page.getByRole('heading', { name: 'Lock' }).waitFor();
    expect(await button(page, /^Approve/).count()).toBe(0);
  });

  test('shows no act to a reader, and to others what they may', async () => {
    const name = await submitted('mouth');
    for (const [scope, acts] of [
      ['read', 0],
      ['operate', 2],
      ['write', 2],
    ] as const) {
      const page = await open(`/p/${name}/report`, { viewport: desk }, await api.token(scope));
      await page.getByText(`suzumio approve ${name} --report-version 1`).waitFor();
      expect([scope, await button(page, /^(Approve|Request changes)/).count()]).toEqual([scope, acts]);
      await page.keyboard.press('a');
      await soon(async () => {
        expect(await button(page, /^Take back/).count()).toBe(acts / 2);
      });
      await page.keyboard.press('z');
    }
  });
});

test.each([
  ['desk', desk],
  ['phone', phone],
] as const)('all of it is for everybody, on a %s', async (at, viewport) => {
  const page = await open(`/p/${await submitted(`shore-${at}`)}/report`, { viewport });
  const found: Record<string, string[]> = {};
  await button(page, /^Approve/).waitFor();
  found['report'] = await violations(page);
  await button(page, /^Request changes/).click();
  await page.getByRole('textbox').fill('More.');
  found['changes'] = await violations(page);
  await page.keyboard.press('Control+Enter');
  await button(page, /^Take back/).waitFor();
  found['under way'] = await violations(page);
  expect(found).toEqual({ report: [], changes: [], 'under way': [] });
  expect(await page.evaluate<number>('document.documentElement.scrollWidth')).toBeLessThanOrEqual(viewport.width);
});
