import { execFile } from 'node:child_process';
import { mkdir, readdir, readFile, readlink, rm, stat, symlink, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { promisify } from 'node:util';
import { afterEach, beforeEach, describe, expect, test } from '@jest/globals';
import { ContentStore, hashOf } from '@suzumio/store/content/content-store';
import { type TestApi, testApi } from '../../services/api/test/support/api.js';
import { failTurn, leaveFiles } from '../../services/api/test/support/play.js';
import { type CliWorld, createCliWorld } from './support/cli.js';
import { waysOf } from './support/ways.js';

const execute = promisify(execFile);

let api: TestApi;
let world: CliWorld;
let here: string;
beforeEach(async () => {
  api = await testApi();
  await api.create();
  world = await createCliWorld();
  here = join(world.directory, 'here');
  await mkdir(here);
});
afterEach(async () => {
  await api.close();
  await world.remove();
});

const { atServer, withNothingRunning, ways } = waysOf(() => ({ api, world }));

const first = { 'src/level.py': 'print(3.1)\n', 'src/run': 'echo 1\n', old: 'Old.\n', logo: Buffer.from([0, 1]) };
const second = {
  'src/level.py': 'import gauge\nprint(gauge.level())\n',
  'src/gauge.py': 'def level():\n  return 3.2',
  'src/run': { run: 'echo 1\n' },
  'now here': { link: 'src/level.py' },
  logo: Buffer.from([0, 2]),
};

describe.each(ways)('workspace, %s', (_way, run) => {
  test('log lists the turns that have changed files, the newest first', async () => {
    expect(await run('workspace', 'log', 'team', 'ada')).toMatchObject({
      code: 0,
      out: 'No turn of ada has changed its files yet.\n',
    });
    for (const tree of [first, first, second]) await leaveFiles(api, 'team', 'ada', tree);
    const { out } = await run('workspace', 'log', 'team', 'ada');
    expect(out).toMatch(/^TURN +TIME +FILES CHANGED\n3 .* \+2 ~3 -1\n1 .* \+4 ~0 -0\n$/);
    const { out: newest } = await run('workspace', 'log', 'team', 'ada', '--limit', '1', '--json');
    expect(JSON.parse(newest)).toMatchObject([{ turnNumber: 3, files: { added: 2, changed: 3, removed: 1 } }]);
    expect((await run('turns', 'show', 'team', 'ada:3')).out).toContain('files    changed: +2 ~3 -1\n');
    await failTurn(api, 'team', 'ada', { ...second, more: 'x' });
    const { out: failed } = await run('workspace', 'log', 'team', 'ada', '--limit', '1');
    expect(failed).toMatch(/\n4 .* \+1 ~0 -0\n/);
    expect(await run('workspace', 'log', 'team', 'zoe')).toMatchObject({ code: 3 });
  });

  test('log and diff tell of one path, and of several turns together', async () => {
    for (const tree of [first, { ...first, old: 'Older.\n' }, second]) await leaveFiles(api, 'team', 'ada', tree);
    const { out } = await run('workspace', 'log', 'team', 'ada', '--path', 'src');
    expect(out).toMatch(/^TURN +TIME +FILES CHANGED\n3 .* \+1 ~2 -0\n1 .* \+2 ~0 -0\n$/);
    expect((await run('workspace', 'log', 'team', 'ada', '--path', 'elsewhere')).out).toBe(
      'No turn of ada has changed elsewhere.\n',
    );
    const since = async (n: string) =>
      (await run('workspace', 'diff', 'team', 'ada', '3', '--from', n, '--path', 'old')).out;
    expect(await since('0')).toBe('Since turn 0, ada has changed no files at old.\n');
    expect(await since('1')).toContain('-Old.\n');
    expect(await since('2')).toContain('-Older.\n');
    expect((await run('workspace', 'diff', 'team', 'ada', '2', '--from', '1', '--names')).out).toMatch(
      /changed .* old\n/,
    );
    expect(await run('workspace', 'diff', 'team', 'ada', '3', '--from', '9')).toMatchObject({ code: 3 });
    // As it was after a later turn: the other way round.
    expect((await run('workspace', 'diff', 'team', 'ada', '1', '--from', '3', '--path', 'old')).out).toContain(
      '+Old.\n',
    );
  });

  test('diff is what git applies, and names what it cannot show', async () => {
    for (const tree of [first, second]) await leaveFiles(api, 'team', 'ada', tree);
    const { out, err } = await run('workspace', 'diff', 'team', 'ada');
    expect(err).toBe('');
    expect(out).toContain('# logo was changed, 2 bytes -> 2 bytes: it is no text.\n');

    const path = (...parts: string[]) => join(here, ...parts);
    await mkdir(path('src'));
    for (const name of ['src/level.py', 'src/run', 'old'] as const) await writeFile(path(name), first[name]);
    await writeFile(join(world.directory, 'turn.diff'), out);
    await execute('git', ['apply', '--verbose', join(world.directory, 'turn.diff')], { cwd: here });
    for (const name of ['src/level.py', 'src/gauge.py'] as const)
      expect(await readFile(path(name), 'utf8')).toBe(second[name]);
    expect((await stat(path('src/run'))).mode & 0o111).not.toBe(0);
    expect(await readlink(path('now here'))).toBe('src/level.py');
    expect((await readdir(here)).sort()).toEqual(['now here', 'src']);
  });

  test('diff is of one turn, of one path, or names alone', async () => {
    for (const tree of [first, second]) await leaveFiles(api, 'team', 'ada', tree);
    const { out } = await run('workspace', 'diff', 'team', 'ada', '2', '--path', 'src/level.py');
    expect(out).toBe(`diff --git a/src/level.py b/src/level.py
--- a/src/level.py
+++ b/src/level.py
@@ -1 +1,2 @@
-print(3.1)
+import gauge
+print(gauge.level())
`);
    expect((await run('workspace', 'diff', 'team', 'ada', '2', '--names')).out).toBe(`CHANGE   SIZE          PATH
changed  2 B -> 2 B    logo
added    link          now here
removed  5 B           old
added    25 B          src/gauge.py
changed  11 B -> 34 B  src/level.py
changed  7 B -> 7 B    src/run
`);
    const { out: json } = await run('workspace', 'diff', 'team', 'ada', '--path', 'old', '--json');
    expect(JSON.parse(json)).toMatchObject({
      turnNumber: 2,
      files: { added: 0, changed: 0, removed: 1 },
      diff: expect.stringContaining('deleted file mode 100644'),
    });
    expect((await run('workspace', 'diff', 'team', 'ada', '--path', 'none')).out).toBe(
      'Turn 2 of ada has changed no files at none.\n',
    );
    expect(await run('workspace', 'diff', 'team', 'ada', '9')).toMatchObject({
      code: 3,
      err: expect.stringContaining('There is no turn "ada:9"'),
    });
    expect((await run('workspace', 'diff', 'team', 'ben')).out).toBe('No turn of ben has changed its files yet.\n');
  });

  test('ls lists files as they are, and as they were', async () => {
    for (const tree of [first, second]) await leaveFiles(api, 'team', 'ada', tree);
    expect((await run('workspace', 'ls', 'team', 'ada')).out).toBe(
      'SIZE  NAME\n2 B   logo\n      now here -> src/level.py\n      src/\n',
    );
    expect((await run('workspace', 'ls', 'team', 'ada', 'src')).out).toBe(
      'SIZE  NAME\n25 B  gauge.py\n34 B  level.py\n7 B   run*\n',
    );
    expect((await run('workspace', 'ls', 'team', 'ada', 'old', '--turn', '1')).out).toBe('SIZE  NAME\n5 B   old\n');
    expect((await run('workspace', 'ls', 'team', 'ada', '--turn', '0')).out).toBe(
      'Nothing is in the workspace of ada.\n',
    );
    expect(await run('workspace', 'ls', 'team', 'ada', 'old')).toMatchObject({
      code: 3,
      err: expect.stringContaining('"old" is not in the workspace of ada'),
    });
    expect(await run('workspace', 'ls', 'team', 'ada', '--turn', '3')).toMatchObject({ code: 3 });
  });

  test('get writes a file as it was, whole, and never over another', async () => {
    for (const tree of [first, second]) await leaveFiles(api, 'team', 'ada', tree);
    const output = join(here, 'level.py');
    const get = (...args: string[]) => run('workspace', 'get', 'team', 'ada', ...args);
    expect(await get('src/level.py', '--turn', '1', '--output', output)).toEqual({
      code: 0,
      out: `Wrote ${output}, 11 B.\n`,
      err: '',
    });
    expect(await readFile(output, 'utf8')).toBe(first['src/level.py']);
    expect(await get('src/level.py', '--output', output)).toMatchObject({
      code: 3,
      err: expect.stringContaining('is there already'),
    });
    await rm(output);
    await writeFile(join(here, 'mine'), 'Mine.');
    await symlink(join(here, 'mine'), output);
    expect(await get('src/level.py', '--output', output, '--force')).toMatchObject({ code: 0 });
    expect(await readFile(join(here, 'mine'), 'utf8')).toBe('Mine.');
    expect(Buffer.from((await get('logo', '--output', '-')).out, 'latin1')).toEqual(second.logo);
    for (const [path, why] of [
      ['src', 'src is a directory'],
      ['now here', 'now here is a link, which is not followed'],
      ['../../etc/passwd', '"../../etc/passwd" is not in the workspace of ada'],
    ] as const) {
      expect(await get(path, '--output', join(here, 'x'))).toMatchObject({
        code: 3,
        err: expect.stringContaining(why),
      });
    }
  });

  test('names what is no longer kept, and shows the rest', async () => {
    for (const tree of [
      { a: 'one\n', b: 'x\n' },
      { a: 'two\n', b: 'y\n' },
    ])
      await leaveFiles(api, 'team', 'ada', tree);
    const directory = api.cell.directory.projectDir('team');
    await rm(join(directory, new ContentStore(directory).pathOf(hashOf(Buffer.from('one\n')))));
    const { out } = await run('workspace', 'diff', 'team', 'ada', '2');
    expect(out).toContain('# a was changed, 4 bytes -> 4 bytes: its content is no longer kept.\n');
    expect(out).toContain('-x\n+y\n');
    expect(await run('workspace', 'get', 'team', 'ada', 'a', '--turn', '1', '--output', '-')).toMatchObject({
      code: 3,
      err: expect.stringContaining('The content of "a" is no longer kept as ada had it after turn 1'),
    });
  });
});

test('restore makes the files what they were, for the next turn, and can be taken back', async () => {
  for (const tree of [first, second]) await leaveFiles(api, 'team', 'ada', tree);
  expect(await atServer('workspace', 'restore', 'team', 'ada', '1')).toMatchObject({
    code: 0,
    out: expect.stringContaining('The files of ada are as they were after its turn 1 (files changed: +1 ~3 -2).\n'),
  });
  expect((await atServer('workspace', 'get', 'team', 'ada', 'old', '--output', '-')).out).toBe(first.old);
  expect((await atServer('workspace', 'log', 'team', 'ada')).out).toMatch(
    /RESTORED\n +\d.* \+1 ~3 -2 +to turn 1, by admin\n2 .*\n1 /,
  );
  expect((await atServer('workspace', 'diff', 'team', 'ada', '--names')).out).toContain('gauge.py');
  expect(await atServer('workspace', 'restore', 'team', 'ada', '2')).toMatchObject({ code: 0 });
  expect(await atServer('workspace', 'get', 'team', 'ada', 'old', '--output', '-')).toMatchObject({ code: 3 });
  expect(await atServer('workspace', 'restore', 'team', 'ada', '7')).toMatchObject({ code: 3 });
  expect(await withNothingRunning('workspace', 'restore', 'team', 'ada', '1')).toMatchObject({ code: 4 });
});

test('on a terminal, no name and no text of an agent does more than show', async () => {
  const name = 'a\u001b[2J\nb';
  await leaveFiles(api, 'team', 'ada', { [name]: '\u001b]0;title\u0007\n\u202e\n' });
  const terminal = await createCliWorld({ terminal: true });
  try {
    for (const [command = '', ...options] of [['diff'], ['diff', '--names'], ['ls']]) {
      const at = ['--root', api.cell.directory.root, '--url', api.url];
      const { out } = await terminal.run(...at, 'workspace', command, 'team', 'ada', ...options);
      // oxlint-disable-next-line no-control-regex -- finding control characters is what this is for
      expect(out.replaceAll(/\u001b\[\d+m/g, '')).not.toMatch(/[\u0000-\u0009\u000b-\u001f\u202e]/);
      expect(out).toContain('a');
    }
  } finally {
    await terminal.remove();
  }
});
