import { existsSync, mkdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { afterEach, beforeEach, describe, expect, test } from '@jest/globals';
import { type TestApi, testApi } from '../../services/api/test/support/api.js';
import { publish } from '../../services/api/test/support/play.js';
import { gitIn, TestRepository } from '../../services/turn-worker/test/support/repository.js';
import { type CliWorld, createCliWorld } from './support/cli.js';

let api: TestApi;
let world: CliWorld;
/** The person's repository, and the commit at which the team's clones began. */
let own: TestRepository;
let base: string;
const lines = Array.from({ length: 30 }, (_, at) => `line ${at + 1}\n`).join('');
const changed = (changes: Readonly<Record<number, string>>) =>
  Object.entries(changes).reduce((text, [line, to]) => text.replace(`line ${line}\n`, `${to}\n`), lines);
beforeEach(async () => {
  api = await testApi();
  await api.create();
  world = await createCliWorld();
  own = new TestRepository(join(world.directory, 'tides'));
  base = own.commit({ 'a.txt': lines, 'b.txt': 'b\n', '.gitignore': 'built/\n' }, 'First');
});
afterEach(async () => {
  await api.close();
  await world.remove();
});

const apply = (name: string, ...more: string[]) =>
  world.run('--root', api.cell.directory.root, 'patch', 'apply', 'team', name, '--repository', own.path, ...more);
const read = (name: string) => readFileSync(join(own.path, name), 'utf8');
const status = () => own.git('status', '--porcelain', '--untracked-files=all');

/** Publishes what an agent's clone of a commit differs in. */
async function team(files: Readonly<Record<string, string>>, against = base): Promise<string> {
  const clone = join(world.directory, 'clone');
  gitIn(world.directory, 'clone', '--quiet', own.path, clone);
  gitIn(clone, 'checkout', '--quiet', '--detach', against);
  for (const [name, text] of Object.entries(files)) {
    mkdirSync(join(clone, name, '..'), { recursive: true });
    writeFileSync(join(clone, name), text);
  }
  gitIn(clone, 'add', '--all', '--force');
  const content = Buffer.from(`${gitIn(clone, 'diff', '--cached', '--binary', '--full-index', against)}\n`);
  rmSync(clone, { recursive: true });
  return (await publish(api, 'team', 'ada', { name: 'ada.patch', content, base: against })).id;
}

describe('patch apply', () => {
  test('changes the files, beside what the person has changed, and neither index nor branch', async () => {
    const id = await team({ 'a.txt': changed({ 3: 'three' }), 'new/c.txt': 'c\n' });
    own.write({ 'a.txt': changed({ 14: 'fourteen' }), 'own.txt': 'own\n' });
    own.git('add', 'own.txt');
    const { code, out, err } = await apply('ada.patch');
    expect({ code, err }).toEqual({ code: 0, err: '' });
    const replaced = /^As they were before, they are in (.*) for a week\.\n/m;
    expect(out.replace(replaced, '')).toBe(
      `Applied ada.patch (${id}) of ada, against ${base}: 2 files changed, and nothing committed.\n  a.txt\n  new/c.txt\nLook at it with git diff, and commit it.\n`,
    );
    expect(readFileSync(join(replaced.exec(out)?.[1] ?? '', 'old/0'), 'utf8')).toBe(changed({ 14: 'fourteen' }));
    expect([read('a.txt'), read('new/c.txt')]).toEqual([changed({ 3: 'three', 14: 'fourteen' }), 'c\n']);
    expect([own.git('rev-parse', 'HEAD'), status().split('\n')]).toEqual([
      base,
      ['M a.txt', 'A  own.txt', '?? new/c.txt'],
    ]);
    expect((await apply('ada.patch')).out).toBe(`Your files have all of ada.patch (${id}) already.\n`);
  });

  test('is there already where the person has edited the lines beside it', async () => {
    const id = await team({ 'a.txt': changed({ 3: 'three' }) });
    await apply(id);
    const edited = changed({ 2: 'two', 3: 'note\nthree' });
    own.commit({ 'a.txt': edited }, 'Taken, and more');
    expect((await apply('ada.patch')).out).toBe(`Your files have all of ada.patch (${id}) already.\n`);
    expect(read('a.txt')).toBe(edited);
  });

  test('applies a second one where the first was taken, committed or not, and where the person went on', async () => {
    const first = await team({ 'a.txt': changed({ 3: 'three' }) });
    await apply(first);
    await team({ 'a.txt': changed({ 3: 'third', 20: 'twenty' }) });
    const second = await apply('ada.patch', '--json');
    expect(JSON.parse(second.out)).toMatchObject({ base, supersedes: first, files: ['a.txt'], conflicts: [] });
    expect(read('a.txt')).toBe(changed({ 3: 'third', 20: 'twenty' }));
    const taken = own.commit({ 'b.txt': 'mine\n' }, 'Taken, and more');
    // Against the commit of before still, as where the team has not looked since.
    await team({ 'a.txt': changed({ 3: 'third', 20: 'twenty', 25: 'twenty-five' }) });
    expect((await apply('ada.patch')).code).toBe(0);
    expect([read('a.txt'), read('b.txt')]).toEqual([
      changed({ 3: 'third', 20: 'twenty', 25: 'twenty-five' }),
      'mine\n',
    ]);
    own.git('checkout', '--quiet', '.');
    // Against what was taken: nothing is taken back.
    await team({ 'b.txt': 'mine and theirs\n' }, taken);
    expect(JSON.parse((await apply('ada.patch', '--json')).out)).toMatchObject({ supersedes: null, files: ['b.txt'] });
    expect(read('a.txt')).toBe(changed({ 3: 'third', 20: 'twenty' }));
  });

  test('changes nothing where both have changed the same, unless both sides are asked for', async () => {
    const id = await team({ 'a.txt': changed({ 3: 'theirs' }), 'c.txt': 'c\n' });
    own.write({ 'a.txt': changed({ 3: 'mine' }) });
    const refused = await apply('ada.patch');
    expect(refused).toMatchObject({ code: 3, out: '' });
    expect(refused.err).toBe(
      `Nothing was changed: ada.patch (${id}) and your files have changed the same lines of a.txt. With --conflicts both sides are written into those files.\n`,
    );
    expect([read('a.txt'), existsSync(join(own.path, 'c.txt'))]).toEqual([changed({ 3: 'mine' }), false]);
    const { code, out } = await apply('ada.patch', '--conflicts');
    expect([code, out]).toEqual([
      0,
      expect.stringMatching(/ {2}both sides: a\.txt\n {2}c\.txt\n.*for a week\.\nResolve what stands between/),
    ]);
    const both = read('a.txt');
    expect(both).toMatch(/<{7} yours-g.*\nmine\n={7}\ntheirs\n>{7} patch-g/);
    const again = await apply('ada.patch', '--conflicts');
    expect([again.code, again.err]).toEqual([3, expect.stringContaining('both sides stand in a.txt already')]);
    expect(read('a.txt')).toBe(both);
  });

  test('writes over no file that .gitignore names', async () => {
    await team({ 'a.txt': changed({ 3: 'three' }), 'built/out': 'theirs\n' });
    own.write({ 'built/out': 'mine\n' });
    const { code, err } = await apply('ada.patch');
    expect([code, err]).toEqual([3, expect.stringContaining('the file "built/out", which .gitignore names, is where')]);
    expect([read('a.txt'), read('built/out')]).toEqual([lines, 'mine\n']);
  });

  test('prints no control characters of names that agents have given', async () => {
    const name = 'red\u001b[31m\u009b\u202e.txt';
    await team({ [name]: 'theirs\n' });
    const applied = await apply('ada.patch');
    expect([applied.code, existsSync(join(own.path, name))]).toEqual([0, true]);
    own.write({ [name]: 'mine\n' });
    await team({ [name]: 'theirs, again\n' });
    const refused = await apply('ada.patch');
    expect(refused.code).toBe(3);
    // oxlint-disable-next-line no-control-regex -- these are what is not to be there
    expect(`${applied.out}${refused.err}`).not.toMatch(/[\u001b\u009b\u202e]/);
  });

  test('takes a linked work tree for what it is', async () => {
    await team({ 'a.txt': changed({ 3: 'three' }) });
    own.git('worktree', 'add', '--quiet', '../linked', 'HEAD');
    const linked = join(world.directory, 'linked');
    expect((await apply('ada.patch', '--repository', linked)).code).toBe(0);
    expect(readFileSync(join(linked, 'a.txt'), 'utf8')).toBe(changed({ 3: 'three' }));
    expect([gitIn(linked, 'status', '--porcelain'), status()]).toEqual(['M a.txt', '']);
  });

  test('applies by the lines around it where the commit is not there, and says so where they differ', async () => {
    const id = await team({ 'a.txt': changed({ 3: 'three' }) });
    rmSync(join(own.path, '.git'), { recursive: true });
    own.git('init', '--quiet', '--initial-branch=main');
    const copied = own.commit({ 'b.txt': 'b\n' }, 'Copied');
    expect(copied).not.toBe(base);
    own.write({ 'a.txt': changed({ 4: 'four' }) });
    const { code, err } = await apply('ada.patch');
    expect([code, err]).toEqual([
      3,
      expect.stringContaining(`the commit ${base}, which it is against, is not there. Is it the`),
    ]);
    own.write({ 'a.txt': changed({ 20: 'twenty' }) });
    expect((await apply(id)).code).toBe(0);
    expect(read('a.txt')).toBe(changed({ 3: 'three', 20: 'twenty' }));
  });

  test('refuses what is no patch, what is not published, and what is no repository', async () => {
    await publish(api, 'team', 'ada', { name: 'notes.md', content: Buffer.from('Notes.\n') });
    expect(await apply('notes.md')).toMatchObject({
      code: 3,
      err: 'notes.md is not a patch that an agent has made of its clone (artifacts.publish with patch: true).\n',
    });
    expect(await apply('nope.patch')).toMatchObject({
      code: 3,
      err: expect.stringContaining('Nothing is published as'),
    });
    await team({ 'a.txt': changed({ 3: 'three' }) });
    rmSync(join(own.path, '.git'), { recursive: true });
    expect(await apply('ada.patch')).toMatchObject({
      code: 3,
      err: `${own.path} is in no work tree of a Git repository: go into one, or name it with --repository.\n`,
    });
    expect(await apply('ada.patch', '--repository', join(own.path, 'nowhere'))).toMatchObject({
      code: 3,
      err: `There is no directory ${join(own.path, 'nowhere')}.\n`,
    });
  });
});
