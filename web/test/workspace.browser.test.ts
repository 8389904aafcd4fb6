import { afterAll, beforeAll, expect, test } from '@jest/globals';
import { createHash } from 'node:crypto';
import { readFile } from 'node:fs/promises';
import { type TestApi, testApi } from '../../services/api/test/support/api.js';
import { leaveFiles, push } from '../../services/api/test/support/play.js';
import { linkFor } from '../../services/api/test/support/sign-in.js';
import { claimDiff, endDiff } from '@suzumio/store/content/repository-diffs';
import { teamYaml } from '../../test/support/cell.js';
import { soon } from '../../test/support/poll.js';
import { desk, go, phone, testBrowser, violations } from './support/browser.js';

const browser = testBrowser();
const hostile = '100%25 #?&<img src=x onerror=alert(1)>\u202etxt.exe';
const level = (number: number) => `import gauge\nprint(${String(number)})\n`;
let api: TestApi;
beforeAll(async () => {
  api = await testApi();
  await api.create();
  const begun = { 'src/level.py': level(1), 'notes.md': '# Notes\n', [`odd/${hostile}`]: 'Odd.\n' };
  await leaveFiles(api, 'team', 'ada', begun);
  await leaveFiles(api, 'team', 'ada', { ...begun, 'notes.md': '# More notes\n' });
  await leaveFiles(api, 'team', 'ada', {
    ...begun,
    'src/level.py': level(3),
    'src/run': { run: 'echo 1\n' },
    'to level': { link: 'src/level.py' },
  });
});
afterAll(() => api.close());

const [first, second] = ['a'.repeat(40), 'b'.repeat(40)];

async function open(path: string, options: Parameters<typeof browser.open>[0] = { viewport: desk }) {
  const page = await browser.page(await browser.open({ ...options, acceptDownloads: true }));
  await page.goto((await linkFor(api, { path })).url);
  await page.getByRole('navigation', { name: 'Suzumio' }).waitFor();
  return page;
}

test('files are found by directories, read, downloaded, and seen as they were', async () => {
  const page = await open('/p/team/workspace');
  const files = page.getByRole('list', { name: 'Files' });
  await files.getByRole('link', { name: 'src', exact: true }).click();
  await files.getByRole('link', { name: /^level.py/ }).click();
  await page.getByText('print(3)').waitFor();
  const downloading = page.waitForEvent('download');
  await page.getByRole('link', { name: 'Download' }).click();
  const bytes = await readFile(await (await downloading).path());
  expect(bytes.toString()).toBe(level(3));
  await page.getByText(createHash('sha256').update(bytes).digest('hex'), { exact: true }).waitFor();

  const history = page.getByRole('region', { name: 'History' });
  await soon(async () => {
    expect(await history.getByRole('listitem').allInnerTexts()).toEqual([
      expect.stringMatching(/^Turn 3/),
      expect.stringMatching(/^Turn 1/),
    ]);
  });
  await page.getByLabel('When').selectOption({ label: 'after turn 2' });
  await page.getByText('print(1)').waitFor();
  await page.reload();
  await page.getByText('print(1)').waitFor();
  await page.getByRole('navigation', { name: 'Where' }).getByRole('link', { name: 'ada' }).click();
  await files.getByRole('link', { name: 'notes.md' }).click();
  await page.getByRole('heading', { name: 'More notes' }).waitFor();
  await page.getByLabel('When').selectOption({ label: 'before the first turn' });
  await page.getByText(/is not in the workspace of ada as it was after its turn 0/).waitFor();
  const leftOf = (selector: string) =>
    page.evaluate<number>(`(() => {
      const words = document.createRange();
      words.selectNodeContents(document.querySelector('${selector}'));
      return Math.round(words.getBoundingClientRect().left);
    })()`);
  expect(await leftOf('.panes-item > .empty-line')).toBe(await leftOf('.panes-item .about-title'));
  // What became of it is told, and what else there was is beside.
  await history.getByRole('link', { name: 'Turn 2' }).waitFor();
  expect(await violations(page)).toEqual([]);
  await page.getByLabel('Compare with').selectOption({ label: 'compared with after turn 1' });
  await page.getByText('What differs between after turn 1 and before the first turn').waitFor();
  await page.getByLabel('Compare with').selectOption({ label: 'not compared' });
  await page.getByRole('link', { name: 'All files of ada' }).click();
  await page.getByText('Nothing is in it.').waitFor();
  browser.expectErrors(/status of 404/);
});

test('any two turns are compared, as a whole and at one path', async () => {
  const page = await open('/p/team/workspace/ada?turn=3&from=1');
  await page.getByText('What differs between after turn 1 and after turn 3').waitFor();
  await page.getByRole('region', { name: 'src/run' }).waitFor();
  expect(await page.getByRole('region', { name: 'notes.md' }).count()).toBe(0);
  await page.getByLabel('When').selectOption({ label: 'after turn 2' });
  await page.getByRole('region', { name: 'notes.md' }).waitFor();
  await page.getByRole('list', { name: 'Files' }).getByRole('link', { name: 'src', exact: true }).click();
  await page.getByText('Nothing differs.').waitFor();
});

test('a name is a name, whatever it says', async () => {
  const page = await open('/p/team/workspace/ada?path=odd');
  await page.getByRole('link', { name: /100%25/ }).click();
  await page.getByText('Odd.', { exact: true }).waitFor();
  expect(await page.getByText('‹202E›').count()).toBeGreaterThan(0);
  await go(page, '/p/team/workspace/ada?path=to%20level');
  await page.getByText('A link to src/level.py').waitFor();
  await go(page, '/p/team/workspace/zoe');
  await page.getByText('There is no agent zoe').waitFor();

  const at = '2026-11-20T09:00:00.000Z';
  const upstream = {
    commit: second,
    ahead: 3,
    rewritten: true,
    turn: 'turn_2',
    turnNumber: 2,
    lookedAt: at,
    noNews: null,
  };
  const repository = { name: hostile, ref: 'main', branch: 'suzumio/ada', base: first, turn: 'turn_1', turnNumber: 1 };
  await page.route('**/agents/ada/workspace/repository', (route) =>
    route.fulfill({ json: { agent: 'ada', repository: { ...repository, clonedAt: at, upstream } } }),
  );
  await page.goto(`${api.url}/p/team/workspace/ada`);
  await page.getByText(/^Clone of 100%25 #\?&<img .* at main, from aaaaaaaaaa; at bbbbbbbbbb, 3 commits/).waitFor();
});

test('a shared repository has its branches, and who has moved them', async () => {
  const yaml = teamYaml.replace('name: team', 'name: sharing\ngit: { shared: true }\ntools: { toolpacks: [shell] }');
  await api.create(yaml);
  const branch = 'refs/heads/suzumio/ada/level';
  await push(api, 'sharing', 'ada', [{ ref: branch, from: null, to: first }]);
  await push(api, 'sharing', 'ada', [
    { ref: branch, from: first, to: second },
    { ref: 'refs/heads/suzumio/ada/notes', from: null, to: first },
  ]);
  const body = { updates: [{ ref: 'refs/heads/main', from: null, to: second }] };
  expect((await api.post('/api/projects/sharing/git/pushes', body)).status).toBe(201);
  const page = await open('/p/sharing/workspace');
  await page.getByRole('link', { name: 'Shared repository' }).click();
  const branches = page.getByRole('region', { name: 'Branches and tags' }).getByRole('listitem');
  await branches.first().waitFor();
  expect(await branches.allInnerTexts()).toEqual([
    expect.stringMatching(/main\s+bbbbbbbbbb by admin/),
    expect.stringMatching(/suzumio\/ada\/level\s+bbbbbbbbbb by ada/),
    expect.stringMatching(/suzumio\/ada\/notes\s+aaaaaaaaaa by ada/),
  ]);
  await soon(async () => {
    expect(await page.getByRole('region', { name: 'Pushes' }).getByRole('listitem').allInnerTexts()).toEqual([
      expect.stringMatching(/admin\s+main new → bbbbbbbbbb/),
      expect.stringMatching(
        /ada, turn 2\s+suzumio\/ada\/level aaaaaaaaaa → bbbbbbbbbb suzumio\/ada\/notes new → aaaaaaaaaa/,
      ),
      expect.stringMatching(/ada, turn 1\s+suzumio\/ada\/level new → aaaaaaaaaa/),
    ]);
  });
  for (const command of ['suzumio git fetch sharing', 'suzumio git push sharing']) {
    await page.getByText(command, { exact: true }).waitFor();
  }
  expect(await violations(page)).toEqual([]);
  await page.getByRole('link', { name: 'ada, turn 2' }).click();
  await page.getByRole('heading', { name: 'Turn 2' }).waitFor();
});

const compared = {
  base: first,
  head: second,
  commits: [{ id: second, subject: `Measure ${hostile}`, author: '<b>Yuki</b>', at: '2026-11-20T09:00:00.000Z' }],
  ahead: 1,
  behind: 2,
  files: { added: 0, changed: 1, removed: 0 },
  diff: 'diff --git a/src/level.py b/src/level.py\n--- a/src/level.py\n+++ b/src/level.py\n@@ -1 +1 @@\n-print(1)\n+print(3)\n# logo.png was added: it is no text, or longer than 1 MB.\n',
};

/** A worker that answers every comparison so, once it is asked. */
async function comparing(project: string): Promise<void> {
  await api.transport.announce({ worker: 'worker-1', slots: 1, state: 'ready' });
  api.transport.consumeRepositoryDiffs(async ({ diff }) => {
    const claim = 'f'.repeat(32);
    await api.write(project, (tx) => claimDiff(tx, diff, claim));
    await api.write(project, (tx) => endDiff(tx, diff, claim, { made: compared }));
  });
}

test('each push leads to what it has changed, and any two branches are compared', async () => {
  const yaml = teamYaml.replace('name: team', 'name: comparing\ngit: { shared: true }\ntools: { toolpacks: [shell] }');
  await api.create(yaml);
  const [own, notes] = ['refs/heads/suzumio/ada/level', 'refs/heads/suzumio/ada/notes'];
  await push(api, 'comparing', 'ada', [{ ref: own, from: null, to: first }]);
  await push(api, 'comparing', 'ada', [
    { ref: own, from: first, to: second },
    { ref: notes, from: null, to: first },
  ]);
  const page = await open('/p/comparing/repository');
  await page.getByRole('link', { name: 'aaaaaaaaaa → bbbbbbbbbb' }).click();
  await page
    .getByRole('alert')
    .getByText(/none is online/)
    .waitFor();
  await comparing('comparing');
  await page.getByRole('button', { name: 'Try again' }).click();
  await page.getByRole('region', { name: 'src/level.py' }).getByText('print(3)').waitFor();
  expect(await page.getByRole('list', { name: 'Commits' }).innerText()).toMatch(
    /^bbbbbbbbbb\s+Measure 100%25 #\?&<img src=x onerror=alert\(1\)>‹202E›txt\.exe by <b>Yuki<\/b>/,
  );
  await page.getByText('1 commit, 2 commits of the other are not in it').waitFor();
  await page.getByText('logo.png was added: it is no text, or longer than 1 MB.').waitFor();
  await page.getByText(`suzumio git diff comparing ${first.slice(0, 10)} ${second.slice(0, 10)}`).waitFor();
  await page.reload();
  await page.getByRole('region', { name: 'src/level.py' }).waitFor();
  expect(await violations(page)).toEqual([]);

  await page.getByRole('link', { name: 'Repository of comparing' }).click();
  await page.getByLabel('What is compared').selectOption({ label: 'suzumio/ada/level' });
  await page.getByRole('region', { name: 'src/level.py' }).waitFor();
  const query = () => new URL(page.url()).searchParams.toString();
  const names = new URLSearchParams({ from: notes, to: own });
  expect(query()).toBe(`${names.toString()}&common=1`);
  await page.getByRole('checkbox').uncheck();
  await page.getByRole('region', { name: 'src/level.py' }).waitFor();
  expect(query()).toBe(names.toString());
  await page.getByLabel('Compare with').selectOption({ label: 'nothing' });
  await page.getByRole('region', { name: 'src/level.py' }).waitFor();
  expect(query()).toBe(new URLSearchParams({ to: own }).toString());
  await page.goto(`${api.url}/p/comparing/repository?to=${encodeURIComponent(hostile)}`);
  await page
    .getByRole('alert')
    .getByText(/no branch or tag/)
    .waitFor();
  browser.expectErrors(/status of (404|503)/);
});

test.each([desk, phone])('it is for everybody at %o', async (viewport) => {
  const page = await open('/p/team/workspace/ada', { viewport });
  for (const [path, text] of [
    ['', 'to level'],
    ['?path=src%2Flevel.py', 'print(3)'],
    ['?turn=3&from=1', 'echo 1'],
  ] as const) {
    await go(page, `/p/team/workspace/ada${path}`);
    await page.getByText(text).first().waitFor();
    expect({ path, violations: await violations(page) }).toEqual({ path, violations: [] });
    const width = await page.evaluate<number>('document.documentElement.scrollWidth');
    expect({ path, fits: width <= viewport.width }).toEqual({ path, fits: true });
  }
});
