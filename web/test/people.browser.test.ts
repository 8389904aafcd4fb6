import { afterAll, beforeAll, describe, expect, test } from '@jest/globals';
import type { Page } from 'playwright-core';
import { type TestApi, testApi } from '../../services/api/test/support/api.js';
import { linkFor, signIn } from '../../services/api/test/support/sign-in.js';
import { soon } from '../../test/support/poll.js';
import { desk, go, phone, testBrowser, violations } from './support/browser.js';

const browser = testBrowser();
let api: TestApi;
beforeAll(async () => {
  api = await testApi();
  await api.create();
});
afterAll(() => api.close());

const makeToken = (name: string, scope: 'read' | 'mail' | 'write' | 'worker', project?: string) =>
  api.cell.catalog.tokens.create({ name, scope, project, actor: 'test' });

/** A page of somebody who is signed in with a token; the administrator's unless another is given. */
async function open(path: string, { token = api.adminToken, viewport = desk } = {}) {
  const page = await browser.page(await browser.open({ viewport }));
  await page.goto((await linkFor(api, { path }, token)).url);
  await page.getByRole('heading', { level: 1 }).first().waitFor();
  return page;
}

const button = (page: Page, name: string | RegExp) => page.getByRole('button', { name, exact: true });
const dialog = (page: Page) => page.getByRole('dialog');
const region = (page: Page, name: string) => page.getByRole('region', { name, exact: true });
const status = async (token: string) => (await api.get('/api/projects', { token })).status;

/** All that a page and the browser keep of it. */
const kept = (page: Page) =>
  page.evaluate<string>(
    'document.documentElement.outerHTML + JSON.stringify({ ...localStorage }) + JSON.stringify({ ...sessionStorage }) + location.href + JSON.stringify(history.state)',
  );

/** Axe, and no page wider than the screen. */
async function lookAtAll(page: Page) {
  await api.post('/api/teams', { name: 'desk' });
  const persona = 'Be brief. '.repeat(200);
  await api.post('/api/profiles', { nickname: 'Ren', role: 'reporter', team: 'desk', persona });
  for (const path of ['/tokens', '/tokens/new', '/profiles/Ren', '/profiles/Ren/edit']) {
    await go(page, path);
    await page.locator('.people-rows li, .people-form, .people-text').first().waitFor();
    for (const viewport of [desk, phone]) {
      await page.setViewportSize(viewport);
      expect({ path, viewport, found: await violations(page) }).toEqual({ path, viewport, found: [] });
    }
    const wide = await page.evaluate<number>('document.documentElement.scrollWidth - innerWidth');
    expect({ path, wide: Math.max(0, wide) }).toEqual({ path, wide: 0 });
  }
}

describe('an administrator', () => {
  test('makes a token, whose secret is shown once, takes it back, and makes a link for somebody else', async () => {
    const page = await open('/tokens');
    await page.getByRole('link', { name: 'New token' }).click();
    const form = page.getByRole('form', { name: 'New token' });
    await form.getByLabel('Name').fill('admin');
    await form.getByRole('radio', { name: /^mail/ }).check();
    await form.getByRole('combobox', { name: 'Project' }).selectOption('team');
    await button(page, 'Make the token').click();
    await form.getByRole('alert').getByText('these names mean somebody else').waitFor();
    expect(await form.getByRole('radio', { name: /^mail/ }).isChecked()).toBe(true);
    await form.getByLabel('Name').fill('form');
    await button(page, 'Make the token').click();
    const made = region(page, 'The secret of form');
    const secret = (await made.locator('code').first().textContent()) ?? '';
    expect(secret).toMatch(/^szm_[\w-]{43}$/);
    await made.getByText(`SUZUMIO_URL=${api.url} SUZUMIO_TOKEN=${secret} suzumio status`).waitFor();
    expect(page.url()).toBe(`${api.url}/tokens/new`);
    const mail = { recipient: 'ada', body: 'The river is rising.' };
    expect((await api.post('/api/projects/team/messages', mail, { token: secret })).status).toBe(201);

    await made.getByRole('link', { name: 'All tokens' }).click();
    const row = region(page, 'Tokens').getByRole('listitem').filter({ hasText: /^form/ });
    await row.getByText('used just now').waitFor();
    expect(await kept(page)).not.toContain(secret);
    await page.goBack();
    await form.waitFor();
    expect(await form.getByLabel('Name').inputValue()).toBe('');
    expect(await kept(page)).not.toContain(secret);
    await page.goForward();

    await signIn(api, secret);
    await linkFor(api, {}, secret);
    await page.reload();
    await row.getByText('1 browser, 1 open link').waitFor();
    await button(page, 'Revoke… form').click();
    await dialog(page).getByText('1 browser signed in as form is signed out.').waitFor();
    await dialog(page).getByText('1 sign-in link that nobody opened yet opens nothing any more.').waitFor();
    await button(page, 'Revoke for good').click();
    await dialog(page).getByRole('status').getByText('form is revoked').waitFor();
    await button(page, 'Close').click();
    await row.waitFor({ state: 'detached' });
    expect(await status(secret)).toBe(401);
    await page.getByText('1 token that ended').click();
    await page.getByText('revoked', { exact: false }).first().waitFor();

    // Of a worker's token it is said what goes on. Somebody else gets a link.
    await makeToken('east-1', 'worker');
    await makeToken('mio', 'mail', 'team');
    await page.reload();
    await button(page, 'Revoke… east-1').click();
    await dialog(page).getByText('Turns that it has claimed already go on to their end.').waitFor();
    await button(page, 'Keep it').click();
    expect(await button(page, 'Sign-in link… as east-1').count()).toBe(0);
    await button(page, 'Sign-in link… as mio').click();
    await dialog(page).getByText('That you made it is recorded.').waitFor();
    await button(page, 'Make the link').click();
    const url = (await dialog(page).locator('code').textContent()) ?? '';
    await button(page, 'Close').click();
    // Closed is not gone yet.
    await page.locator('dialog').waitFor({ state: 'detached' });
    expect(await kept(page)).not.toContain(url.split('#')[1]);
    const there = await browser.page(await browser.open({ viewport: phone }));
    await there.goto(url);
    await there.getByRole('heading', { name: 'Inbox', level: 1 }).waitFor();
    expect(await there.evaluate('fetch("/api/session").then((answer) => answer.json())')).toMatchObject({
      name: 'mio',
      scope: 'mail',
      project: 'team',
    });

    // A page that the browser keeps for the way back has no secret, nor one whose session has ended.
    const make = async (name: string) => {
      await page.goto(`${api.url}/tokens/new`);
      await form.getByLabel('Name').fill(name);
      await button(page, 'Make the token').click();
      return (await region(page, `The secret of ${name}`).locator('code').first().textContent()) ?? '';
    };
    const first = await make('first');
    expect(
      await page.evaluate<string>("dispatchEvent(new Event('pagehide')), document.documentElement.outerHTML"),
    ).not.toContain(first);
    const second = await make('second');
    await api.call('DELETE', '/api/sessions?token=admin');
    await page.getByRole('dialog', { name: 'Sign in' }).waitFor();
    await form.waitFor();
    expect(await kept(page)).not.toContain(second);
    browser.expectErrors(/status of 40[01]/);
  });

  test('finds nothing in the way on any page, and signs out one browser, the others, and every one', async () => {
    const { secret } = await makeToken('haru', 'read');
    const [haru, own] = [await signIn(api, secret), await signIn(api)];
    const isIn = async ({ headers }: typeof own) =>
      (await api.get('/api/session', { token: null, headers })).status === 200;
    const page = await open('/tokens');
    await lookAtAll(page);
    await page.setViewportSize(desk);
    await go(page, '/tokens');
    const signedIn = region(page, 'Signed in');
    await signedIn.getByText('this browser').waitFor();
    await signedIn.getByRole('listitem').filter({ hasText: 'this browser' }).getByText('from 127.0.0.1').waitFor();
    await signedIn.getByRole('button', { name: /^Sign out ?haru/ }).click();
    await signedIn.getByRole('listitem').filter({ hasText: 'haru' }).waitFor({ state: 'detached' });
    expect([await isIn(haru), await isIn(own)]).toEqual([false, true]);
    await button(page, 'Sign out the others').click();
    await page.getByRole('status').getByText('Only this browser is signed in now.').waitFor();
    expect(await isIn(own)).toBe(false);
    await button(page, 'Sign out everywhere').click();
    await page.getByRole('heading', { name: 'Sign in', level: 1 }).waitFor();
    await page.waitForURL(`${api.url}/sign-in`);
    expect((await api.get('/api/sessions')).text).not.toContain('"token":"admin"');
    expect(await status(api.adminToken)).toBe(200);
    browser.expectErrors(/status of 401/);
  });
});

test('a page whose token is revoked says so, and keeps what is written', async () => {
  const { secret } = await makeToken('yuki', 'write');
  const page = await open('/profiles?new', { token: secret });
  const form = page.getByRole('form', { name: 'New profile' });
  await form.getByLabel('Nickname').fill('Sora');
  await form.getByLabel('Role').fill('editor');
  await form.getByLabel('Persona').fill('You are {{agent.nickname}}.');
  await button(page, 'Add a skill').click();
  await form.getByLabel('Name', { exact: true }).fill('style.md');
  await form.getByLabel('Text').fill('Short sentences.');
  await api.call('DELETE', '/api/tokens/yuki');
  const over = page.getByRole('dialog', { name: 'Sign in' });
  await over.getByText('You are signed out. The token "yuki" was revoked, and the session ended with it.').waitFor();
  await over.getByText('The page of yuki stays as it is').waitFor();
  const { secret: another } = await makeToken('yuki', 'write');
  await over.getByLabel('Link').fill((await linkFor(api, {}, another)).url);
  await page.keyboard.press('Enter');
  await over.waitFor({ state: 'detached' });
  expect(await form.getByLabel('Text').inputValue()).toBe('Short sentences.');
  await button(page, 'Make the profile').click();
  await page.getByRole('heading', { name: /^Sora/ }).waitFor();
  browser.expectErrors(/status of 401/);
});

test('a token of one project sees itself, and no act that is not its own', async () => {
  const { secret } = await makeToken('form-2', 'read', 'team');
  const page = await open('/', { token: secret });
  await page.locator('.rail-who').click();
  await region(page, 'You').getByText('You see what happens here, and change nothing.').waitFor();
  await region(page, 'Signed in').getByText('this browser').waitFor();
  expect(await page.getByRole('navigation', { name: 'People' }).getByRole('link').allTextContents()).toEqual([
    'Access',
  ]);
  expect(await region(page, 'Tokens').count()).toBe(0);
  await go(page, '/tokens/new');
  await page.getByRole('heading', { name: 'Nothing is here' }).waitFor();
  await go(page, '/profiles');
  await page.getByRole('heading', { name: 'Nothing is here' }).waitFor();
});

test('two people who edit the same profile at once overwrite nothing unseen, and lose nothing typed', async () => {
  await api.post('/api/profiles', { nickname: 'Nao', role: 'reporter', persona: 'You are Nao.\nBe brief.' });
  const { secret: haru } = await makeToken('haru-2', 'write');
  const { secret: mio } = await makeToken('mio-2', 'write');
  const [one, two] = [
    await open('/profiles/Nao/edit', { token: haru }),
    await open('/profiles/Nao/edit', { token: mio }),
  ];
  const field = (page: Page, name: string) => page.getByRole('form').getByLabel(name);
  const meanwhile = (page: Page) => region(page, 'What was changed meanwhile');
  const served = async () => (await api.get('/api/profiles/Nao')).json;
  await field(one, 'Role').fill('editor');
  await field(one, 'Persona').fill('You are Nao.\nBe exact.');
  await field(two, 'Persona').fill('You are Nao.\nBe kind.');
  await button(one, 'Save').click();
  await one.getByRole('heading', { name: 'Nao editor' }).waitFor();

  await button(two, 'Save').click();
  await meanwhile(two).getByText('haru-2 changed it just now. You began with version 1').waitFor();
  expect(await served()).toMatchObject({ profile: { version: 2, persona: 'You are Nao.\nBe exact.' } });
  const changed = meanwhile(two).getByRole('list', { name: 'What the other has changed' }).getByRole('listitem');
  expect(await changed.filter({ hasText: 'Role' }).innerText()).toMatch(/stays\s+reporter\s+→\s+(becomes\s+)?editor/);
  await changed.filter({ hasText: 'you have changed it, too' }).getByText('+ Be exact.').waitFor();
  await meanwhile(two).getByText('Saving replaces Persona by what you have written, and nothing else.').waitFor();
  expect(await field(two, 'Role').inputValue()).toBe('editor');
  expect(await field(two, 'Persona').inputValue()).toBe('You are Nao.\nBe kind.');
  for (const viewport of [desk, phone]) {
    await two.setViewportSize(viewport);
    expect(await violations(two)).toEqual([]);
    expect(await two.evaluate<number>('document.documentElement.scrollWidth - innerWidth')).toBeLessThanOrEqual(0);
  }

  // What was typed survives a reload, and so does what it was typed on; the first is faster once more.
  await two.waitForTimeout(400);
  await two.reload();
  await meanwhile(two).waitFor();
  expect(await field(two, 'Persona').inputValue()).toBe('You are Nao.\nBe kind.');
  await api.post('/api/profiles/Nao', { persona: 'You are Nao.\nBe late.' });
  await button(two, 'Save on version 2').click();
  await changed.getByText('+ Be late.').waitFor();
  await button(two, 'Save on version 3').click();
  await two.getByRole('heading', { name: 'Nao editor' }).waitFor();
  expect(await served()).toMatchObject({
    profile: { version: 4, role: 'editor', persona: 'You are Nao.\nBe kind.', editedBy: 'mio-2' },
  });
  browser.expectErrors(/status of 409/);
});

test.each([
  ['at a desk', desk],
  ['on a phone', phone],
])('a team is stood up and brought up to date, and mail written to a member, %s', async (where, viewport) => {
  const team = `river-${where.slice(-4)}`;
  const [first, second] = [`Yui-${where.slice(-4)}`, `Sho-${where.slice(-4)}`];
  const join = (nickname: string) => api.post('/api/profiles', { nickname, role: 'reader', team, persona: 'Read.' });
  await api.post('/api/teams', { name: team });
  await join(first);
  const page = await open(`/teams/${team}`, { viewport });
  const standing = region(page, 'Standing project');
  const file = dialog(page).getByLabel(/Its project file/);
  const fine = async () => {
    expect(await violations(page)).toEqual([]);
    expect(await page.evaluate<number>('document.documentElement.scrollWidth - innerWidth')).toBeLessThanOrEqual(0);
  };
  await button(page, 'Make it…').click();
  expect(await file.inputValue()).toContain("profile: '*'");
  // What is offered can be made as it is.
  await button(page, 'Make and start it').click();
  await dialog(page).getByRole('status').getByText(`${team}-desk is made, and runs.`).waitFor();
  await dialog(page)
    .getByRole('link', { name: `${team}-desk` })
    .waitFor();
  await button(page, 'Close').click();

  await join(second);
  await page.reload();
  await standing.getByText(`Not in it: ${second}`).waitFor();
  await standing.getByRole('link', { name: second }).click();
  await button(page, 'Write…').click();
  await dialog(page)
    .getByText(/is not in it yet/)
    .waitFor();
  await fine();
  await dialog(page)
    .getByRole('link', { name: `the page of the team ${team}` })
    .click();
  await standing.getByRole('button', { name: 'Start it' }).click();
  await fine();
  await button(page, 'Bring it up to date…').click();
  await soon(async () => expect(await file.inputValue()).toContain(`name: ${team}-desk`));
  await fine();
  await button(page, 'Apply and start it').click();
  await dialog(page).getByRole('status').getByText('Version 2 of its file is in force.').waitFor();
  await fine();
  await button(page, 'Close').click();
  await standing.getByText(`Not in it: ${second}`).waitFor({ state: 'detached' });
  await button(page, 'Bring it up to date…').click();
  await soon(async () => expect(await file.inputValue()).toContain(`name: ${team}-desk`));
  await button(page, 'Apply and start it').click();
  await dialog(page).getByText('nothing was changed').waitFor();
  await button(page, 'Close').click();

  await api.post(`/api/profiles/${first}`, { team: null });
  await page.reload();
  await standing.getByText('In it, and in the team no more:').getByRole('link', { name: 'member-1' }).waitFor();
  await page.getByRole('link', { name: second }).click();
  await button(page, 'Write…').click();
  await dialog(page).getByLabel('What it says').fill('What do we know of the north gauge?');
  await fine();
  await button(page, 'Send').click();
  await dialog(page)
    .getByRole('link', { name: new RegExp(`in ${team}-desk`) })
    .click();
  await page.getByText('What do we know of the north gauge?').locator('visible=true').first().waitFor();
});

test('teams and profiles are made, changed and retired, on a phone', async () => {
  const page = await open('/teams', { viewport: phone });
  await button(page, 'New team…').click();
  await dialog(page).getByLabel('Name').fill('No');
  await button(page, 'Make the team').click();
  await dialog(page)
    .getByRole('alert')
    .getByText(/expected 1 to 63/)
    .waitFor();
  await dialog(page).getByLabel('Name').fill('night');
  await dialog(page).getByLabel('What it is for').fill('Works while others sleep.');
  await button(page, 'Make the team').click();
  await page.getByText('Works while others sleep.').waitFor();
  await page.getByRole('link', { name: 'New member' }).click();
  const form = page.getByRole('form');
  await form.getByLabel('Nickname').fill('Akari');
  await form.getByLabel('Role').fill('researcher');
  await form.getByLabel('Persona').fill('You are {{agent.name}}.');
  await button(page, 'Make the profile').click();
  await form.getByRole('alert').getByText('agent.name').waitFor();
  await form.getByLabel('Persona').fill('You are {{agent.nickname}}, <b>bold</b>.\u202e');
  await button(page, 'Make the profile').click();
  await page.getByText('You are {{agent.nickname}}, <b>bold</b>.').waitFor();
  await page.getByRole('link', { name: 'Edit' }).click();
  await form.getByLabel('Role').fill('fact checker');
  // Somebody else is faster: that is said, and stays.
  await api.post('/api/profiles/Akari', { model: 'large' });
  await button(page, 'Save').click();
  const meanwhile = region(page, 'What was changed meanwhile');
  await meanwhile.getByText('admin changed it just now.').waitFor();
  await meanwhile.getByText('Saving changes nothing of that.').waitFor();
  await button(page, 'Save on version 2').click();
  await page.getByRole('heading', { name: 'Akari fact checker' }).waitFor();
  await page.getByText('thinks with large').waitFor();
  // Mail to it goes to the standing project of its team, which is made here.
  await button(page, 'Write…').click();
  await dialog(page)
    .getByText(/its team has none yet/)
    .waitFor();
  expect(await button(page, 'Send').count()).toBe(0);
  await dialog(page).getByRole('link', { name: 'the page of the team night' }).click();
  await button(page, 'Make it…').click();
  await dialog(page)
    .getByLabel(/Its project file/)
    .fill('name: night-desk\n');
  await button(page, 'Make and start it').click();
  await dialog(page).getByRole('alert').waitFor();
  const file =
    "name: night-desk\ntask: Answer.\nagents:\n  member: { profile: '*' }\nbackend: { runner: { mode: mock } }\n";
  await dialog(page)
    .getByLabel(/Its project file/)
    .fill(file);
  await button(page, 'Make and start it').click();
  await dialog(page).getByRole('status').getByText('night-desk is made, and runs.').waitFor();
  await button(page, 'Close').click();
  await region(page, 'Standing project').getByRole('link', { name: 'night-desk' }).waitFor();
  await button(page, 'Start it').click();
  await page.getByText('night-desk runs.').waitFor();
  await go(page, '/profiles/Akari');
  await button(page, 'Write…').click();
  await dialog(page).getByLabel('What it says').fill('What do we know of the north gauge?');
  await button(page, 'Send').click();
  await dialog(page)
    .getByRole('link', { name: /in night-desk/ })
    .click();
  await page.getByText('What do we know of the north gauge?').locator('visible=true').first().waitFor();
  await go(page, '/profiles/Akari');
  await button(page, 'Retire…').click();
  await button(page, 'Retire for good').click();
  await dialog(page).getByRole('status').getByText('Akari is retired.').waitFor();
  await button(page, 'Close').click();
  await page.getByText('no new project starts from it').waitFor();
  await page.getByText('was in the team night').waitFor();
  expect(await page.getByRole('link', { name: 'Edit' }).count()).toBe(0);
  await api.call('DELETE', '/api/projects/night-desk');
  await go(page, '/teams/night');
  await button(page, 'Delete the team').click();
  await soon(async () => expect(await page.getByText('night', { exact: true }).count()).toBe(0));
  browser.expectErrors(/status of 4(00|09|22)/);
});
