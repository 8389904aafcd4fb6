import { readdir, readFile } from 'node:fs/promises';
import { fileURLToPath } from 'node:url';
import { afterAll, beforeAll, expect, test } from '@jest/globals';
import { allows, type Client } from '@suzumio/sdk/client';
import type { Locator, Page, Request } from 'playwright-core';
import { type TestApi, testApi } from '../../services/api/test/support/api.js';
import { beginTurn, failTurn, leaveFiles, publish, submit } from '../../services/api/test/support/play.js';
import { linkFor, signIn } from '../../services/api/test/support/sign-in.js';
import { teamYaml } from '../../test/support/cell.js';
import { eventually } from '../../test/support/poll.js';
import { desk, go, testBrowser } from './support/browser.js';

/** Each act says what it will do before it does it. */
const browser = testBrowser();
let api: TestApi;
let file: string;
beforeAll(async () => {
  api = await testApi();
  const named = (name: string) => `${teamYaml.replace('name: team', `name: ${name}`)}\nturn: { maxAttempts: 1 }`;
  await api.create(named('idle'), { start: false });
  for (const name of ['team', 'paused', 'report', 'files']) await api.create(named(name));
  await api.post('/api/projects/paused/pause', {});
  await api.post('/api/projects/paused/agents/ada/pause', {});
  await api.post('/api/projects/paused/agents/ben/stop', {});
  await submit(api, 'report', 'ben', '# Report\n');
  await leaveFiles(api, 'files', 'ada', { 'a.md': 'One.\n' });
  await leaveFiles(api, 'files', 'ada', { 'b.md': 'Two.\n' });
  await failTurn(api, 'team', 'cat');
  ({ id: file } = await publish(api, 'team', 'ada', { name: 'gauge.csv', content: Buffer.from('1,2\n') }));
  await beginTurn(api, 'team', 'ben');
  await api.post('/api/teams', { name: 'empty' });
  for (const [name, nickname] of [
    ['desk', 'Akari'],
    ['night', 'Sora'],
  ]) {
    await api.post('/api/teams', { name });
    await api.post('/api/profiles', { nickname, role: 'reader', team: name, persona: 'Read.' });
  }
  const standing =
    "name: standing\ntask: Answer.\nagents: { one: { profile: '*' } }\nbackend: { runner: { mode: mock } }\n";
  await api.post('/api/teams/night/up', { file: standing });
  const changed = named('idle').replace('Do the work.', 'Do it.');
  await api.call('PUT', '/api/projects/idle/config', { body: { file: changed, baseVersion: 1 } });
  await api.post('/api/profiles/Akari/notes', { text: 'The gauge was moved.' });
  await api.post('/api/projects/team/agents/ada/notes', { text: 'The gauge was moved.' });
  await signIn(api, await api.token('read'));
});
afterAll(() => api.close());

type Operation = keyof Client;
/** An act: what it asks for, and the buttons up to its own; one that begins with # is a menu. */
type Act = readonly [does: Operation | readonly Operation[], ...buttons: (string | RegExp)[]];

const notes = (of: 'Agent' | 'Profile'): Act[] => [
  [`add${of}Note`, 'Add a note…', 'Note it'],
  [`edit${of}Note`, /^Edit… /, 'Save'],
  [`forget${of}Note`, /^Erase… /, 'Erase'],
  [`redact${of}Note`, /^Remove for good… /, 'Remove for good'],
];

const acts: Readonly<Record<string, readonly Act[]>> = {
  '/p/idle': [['startProject', 'Start']],
  '/p/paused': [['resumeProject', 'Resume']],
  '/p/paused/agents/ada': [['resumeAgent', 'Resume']],
  '/p/paused/agents/ben': [['startAgent', 'Start']],
  '/p/team': [
    ['pauseProject', 'Pause'],
    ['stopProject', '#Stop', 'Stop'],
    ['stopProject', '#Stop', 'Stop now'],
    ['tickProject', '#More', 'Look for work now'],
    ['changeBudget', '#More', 'Change its budget…', 'Set the budget'],
    ['labelProject', '#More', 'Labels…', 'Set'],
    ['deleteProject', '#More', 'Delete…', 'Delete for good'],
    [['sendMessage', 'broadcast'], /^Send/],
  ],
  '/p/team/agents/cat': [
    ['retryAgent', 'Retry'],
    ['resetAgent', '#More', 'Give the turn up'],
    ['changeBudget', '#More', 'Change its budget…', 'Set the budget'],
  ],
  '/p/team/agents/ada': [['pauseAgent', 'Pause'], ['stopAgent', '#More', 'Stop'], ...notes('Agent')],
  '/p/team/agents/ben': [
    ['cancelTurn', '#More', 'Cancel turn 1'],
    ['stopAgent', '#More', 'Stop now'],
  ],
  '/p/team/turns/ben:1': [['cancelTurn', 'Cancel turn']],
  '/p/team/mail/1': [
    ['redeliverMessage', 'Deliver again'],
    ['redactMessage', '#More', 'Remove its text…', 'Remove for good'],
    ['replyToMessage', /^Send/],
  ],
  '/p/team/files/FILE': [['redactArtifact', '##More', 'Remove its content…', 'Remove for good']],
  '/p/idle/setup?v=1': [['applyConfig', 'Bring version 1 back…', 'Apply as version 3']],
  '/p/files/workspace/ada?turn=1': [['restoreWorkspace', 'Restore these files…', 'Restore']],
  '/p/report/report': [
    ['approveProject', /^Approve/],
    ['requestChanges', /^Request changes/, 'Send back'],
  ],
  '/new': [['createProject', /^A newsroom/, 'Create and start']],
  '/tokens': [
    ['createSignInLink', 'Link for another browser…', 'Make the link'],
    ['signOut', 'Sign out'],
    ['endSessions', 'Sign out everywhere'],
    ['endSession', /^Sign out ?read-1/],
    ['revokeToken', 'Revoke… read-1', 'Revoke for good'],
  ],
  '/tokens/new': [['createToken', 'Make the token']],
  '/profiles?new': [['createProfile', 'Make the profile']],
  '/profiles/Akari': [['retireProfile', 'Retire…', 'Retire for good'], ...notes('Profile')],
  '/profiles/Sora': [['sendToProfile', 'Write…', 'Send']],
  '/profiles/Akari/edit': [['updateProfile', 'Save']],
  '/teams': [['createTeam', 'New team…', 'Make the team']],
  '/teams/empty': [['deleteTeam', 'Delete the team']],
  '/teams/desk': [
    ['updateTeam', 'Edit…', 'Save'],
    ['standUpTeam', 'Make it…', 'Make and start it'],
  ],
  '/teams/night': [
    ['standUpTeam', 'Start it'],
    ['standUpTeam', 'Bring it up to date…', 'Apply and start it'],
  ],
};

/** What is said of a button to those who do not see what stands beside it. */
const toldOf = (button: Locator) =>
  button.evaluate((element) => {
    const { getAttribute, ownerDocument } = element as unknown as {
      getAttribute: (name: string) => string | null;
      ownerDocument: { getElementById(id: string): { textContent: string } | null };
    };
    const ids = (getAttribute.call(element, 'aria-describedby') ?? '').split(' ');
    return ids.map((id) => ownerDocument.getElementById(id)?.textContent ?? '').join(' ');
  });

/** `#Name` is the last menu of that name now, `##Name` the second one, which may come later. */
function menuNamed(page: Page, name: string): Locator {
  const menus = page.locator('#content summary', { hasText: name.replace(/^#+/, '') });
  return name.startsWith('##') ? menus.nth(1) : menus.last();
}

async function toldBefore(page: Page, buttons: readonly (string | RegExp)[]): Promise<string> {
  const found = (name: string | RegExp) =>
    typeof name === 'string' && name.startsWith('#')
      ? menuNamed(page, name)
      : page.locator('dialog[open], #content').last().getByRole('button', { name, exact: true }).last();
  for (const name of buttons.slice(0, -1)) await found(name).click();
  const last = found(buttons.at(-1) ?? '');
  await last.waitFor();
  const told = await toldOf(last);
  for (let times = 1; times < buttons.length; times += 1) await page.keyboard.press('Escape');
  return told.trim();
}

test('each act says before it is done what it will do', async () => {
  const page = await browser.page(await browser.open({ viewport: desk }));
  await page.goto((await linkFor(api)).url);
  await page.getByRole('heading', { level: 1 }).first().waitFor();
  const told: Record<string, string> = {};
  for (const [path, those] of Object.entries(acts)) {
    await go(page, path.replace('FILE', file));
    for (const [, ...buttons] of those) told[`${path}: ${buttons.join(' ')}`] = await toldBefore(page, buttons);
  }
  const sentence: unknown = expect.stringMatching(/^[^ ]+( [^ ]+){2,}/);
  expect(told).toEqual(Object.fromEntries(Object.keys(told).map((name) => [name, sentence])));
  // Nothing here tells what a turn does while it runs.
  browser.expectErrors(/status of 503/);
});

/** Pages with acts that are tested elsewhere, and with none. */
const others = ['/', '/projects', '/cost', '/system', '/search?q=gauge'].concat(
  ['mail', 'mail/new', 'turns', 'turns/cat:1', 'tasks', 'agents', 'files', 'cost', 'log', 'setup', 'repository'].map(
    (page) => `/p/team/${page}`,
  ),
);
const ofReaders = ([does]: Act) => [does].flat().every((operation) => allows('read', operation));
/** What the first button of each act is called that a reader may not do, or its menu; and of those that are tested elsewhere. */
const firstButtons = [
  ...Object.values(acts).flatMap((those) => those.filter((act) => !ofReaders(act)).map(([, name = '']) => name)),
  ...['Begin again', 'Deliver its mail again', 'Reply', 'Change the budget', 'Labels…', 'Resume everything'],
];

/** The acts that a page offers, by how their buttons begin. */
async function offered(page: Page): Promise<string[]> {
  const buttons = page.locator('#content').locator('button, summary, [role=button]').filter({ visible: true });
  const words = (await buttons.allInnerTexts()).map((text) => text.replaceAll(/\s+/g, ' ').trim());
  const isAct = (text: string) =>
    firstButtons.some((name) =>
      typeof name === 'string' ? text.startsWith(name.replace(/^#+/, '')) : name.test(text),
    );
  return words.filter(isAct);
}

test('somebody who may only read is shown none of them, and no page asks for what they may not', async () => {
  const context = await browser.open({ viewport: desk });
  // The first tab of a browser reads the stream for all: the second is at rest once it is drawn.
  const [first, page] = [await browser.page(context), await browser.page(context)];
  await first.goto((await linkFor(api, {}, await api.token('read'))).url);
  await first.getByText(/^Live/).waitFor();
  const items = first.getByRole('region', { name: 'Items' }).getByRole('link');
  await items.first().waitFor();
  const ofItems = await items.evaluateAll((all) =>
    all.map((link) => (link as unknown as { pathname: string }).pathname),
  );
  const asked: string[] = [];
  const [underWay, seen] = [new Set<Request>(), { atMs: 0 }];
  page.on('request', (request) => {
    underWay.add(request);
    if (request.method() !== 'GET') asked.push(`${request.method()} ${request.url()}`);
  });
  const isOver = (request: Request) => {
    underWay.delete(request);
    seen.atMs = performance.now();
  };
  page.on('requestfinished', isOver).on('requestfailed', isOver);
  page.on('response', (response) => {
    if (response.status() === 403) asked.push(`${response.url()} is refused`);
  });
  await page.goto(api.url);
  await page.getByRole('heading', { level: 1 }).first().waitFor();
  const found: string[] = [];
  for (const path of [...Object.keys(acts), ...others, ...ofItems]) {
    await go(page, path.replace('FILE', file));
    seen.atMs = performance.now();
    await eventually(`${path} is at rest`, () => underWay.size === 0 && performance.now() > seen.atMs + 150);
    for (const key of ['a', 'c', 'r', 'p', 'm']) await page.keyboard.press(key);
    found.push(...(await offered(page)).map((name) => `${path}: ${name}`));
  }
  expect({ found, asked }).toEqual({ found: [], asked: [] });
  // To others it is shown.
  await page.goto((await linkFor(api, { path: '/p/team' })).url);
  await page.getByRole('button', { name: /^Pause/ }).waitFor();
  expect(await offered(page)).toEqual(expect.arrayContaining([expect.stringMatching(/^Pause/), 'Stop', 'More']));
  browser.expectErrors(/status of (503|404)/);
});

/** What asks for more than the scope `read`, and changes nothing; and the sign-in, which is what it is called. */
const noActs = ['checkProjectFile', 'diffConfig', 'listAudit', 'listTokens', 'createSession'];

test('no act is left out here', async () => {
  const directory = fileURLToPath(new URL('../src/', import.meta.url));
  const names = (await readdir(directory, { recursive: true })).filter((name) => /\.tsx?$/.test(name));
  const sources = await Promise.all(names.map((name) => readFile(directory + name, 'utf8')));
  const asked = sources.flatMap((text) =>
    [...text.matchAll(/\b(?:asked\('(\w+)|api\.(\w+)\()/g)].map(([, name, other]) => (name ?? other) as Operation),
  );
  const tested = Object.values(acts).flatMap((those) => those.flatMap(([does]) => does));
  const missing = new Set(
    asked.filter((operation) => !allows('read', operation) && ![...tested, ...noActs].includes(operation)),
  );
  expect([...missing]).toEqual([]);
});
