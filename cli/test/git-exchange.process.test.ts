import { execFileSync } from 'node:child_process';
import { existsSync, readdirSync, readFileSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterEach, beforeEach, describe, expect, test } from '@jest/globals';
import { createClient } from '@suzumio/contract/client/client';
import { OwnRepository } from '../src/git/own-repository.js';
import { type PushOptions, pushToTeam } from '../src/git/push-shared.js';
import { type TestApi, testApi } from '../../services/api/test/support/api.js';
import { push as pushByAgent } from '../../services/api/test/support/play.js';
import { gitIn, TestRepository } from '../../services/turn-worker/test/support/repository.js';
import { teamYaml } from '../../test/support/cell.js';
import { type CliWorld, createCliWorld } from './support/cli.js';

const shared = teamYaml.replace('name: team', 'name: tides\ngit: { shared: true }\ntools: { toolpacks: [shell] }');
const main = 'refs/heads/main';
const branch = 'refs/heads/suzumio/ada';

let api: TestApi;
let world: CliWorld;
/** The repository of a person, and another one of theirs. */
let own: TestRepository;
let other: TestRepository;
let first: string;
beforeEach(async () => {
  api = await testApi();
  await api.create(shared);
  world = await createCliWorld();
  world.setEnvironment({ SUZUMIO_URL: api.url, SUZUMIO_TOKEN: api.adminToken });
  own = new TestRepository(join(world.directory, 'own'));
  other = new TestRepository(join(world.directory, 'other'));
  first = own.commit({ 'a.txt': 'a\n' }, 'First');
});
afterEach(async () => {
  await api.close();
  await world.remove();
});

const push = (...args: string[]) => world.run('git', 'push', 'tides', ...args, '--repository', own.path);
const fetch = (into = own, ...args: string[]) => world.run('git', 'fetch', 'tides', '--repository', into.path, ...args);
const refs = async () => {
  const { items } = (await api.get('/api/projects/tides/git/refs')).json as { items: { ref: string; id: string }[] };
  return Object.fromEntries(items.map(({ ref, id }) => [ref, id]));
};

/** A repository of the whole team's, as somebody gets it who has nothing. */
async function cloned(name: string): Promise<string> {
  const [bundle, clone] = [join(world.directory, `${name}.bundle`), join(world.directory, name)];
  expect((await world.run('git', 'bundle', 'tides', main, '--output', bundle)).code).toBe(0);
  gitIn(world.directory, '-c', 'fetch.fsckObjects=true', 'clone', '--quiet', '--branch', 'main', bundle, clone);
  return clone;
}

/** What a commit of a repository has, as agents push it. */
const packOf = (repository: TestRepository, revisions: string): Buffer =>
  execFileSync('git', ['-C', repository.path, 'pack-objects', '--revs', '--stdout', '--delta-base-offset', '-q'], {
    input: revisions,
    stdio: ['pipe', 'pipe', 'ignore'],
  });

const leftovers = () => readdirSync(tmpdir()).filter((name) => name.startsWith('suzumio-push-'));

test('of branches that a disk takes for one, one is fetched, and the others are named', async () => {
  for (const name of ['topic', 'Topic', 'TOPIC/deep']) {
    own.git('branch', name.replace('/', '-'));
    expect((await push(name.replace('/', '-'))).code).toBe(0);
  }
  expect((await fetch(other)).err).toBe('');
  // As Git sets it where it makes a repository on such a disk.
  const mirror = join(other.path, '.git', 'suzumio', 'tides.git');
  gitIn(mirror, 'config', 'core.ignoreCase', 'true');
  const fetched = await fetch(other);
  expect(fetched.code).toBe(0);
  expect(fetched.err).toContain('this disk takes it for refs/heads/Topic');
  expect(other.git('for-each-ref', '--format=%(refname)', 'refs/remotes/suzumio').split('\n').sort()).toEqual([
    'refs/remotes/suzumio/tides/TOPIC-deep',
    'refs/remotes/suzumio/tides/Topic',
  ]);
});

describe('git push', () => {
  test('brings the present branch, and git fetch gets it elsewhere without touching branches and files', async () => {
    const { code, out, err } = await push();
    expect({ code, err }).toEqual({ code: 0, err: '' });
    expect(out).toMatch(
      new RegExp(
        `^Pushed to the team's repository, with 3 objects, \\d+ B:\n  main new -> ${first.slice(0, 10)}\nAgents see it`,
      ),
    );
    expect(await refs()).toEqual({ [main]: first });
    expect(own.git('rev-parse', 'suzumio/tides/main')).toBe(first);
    expect((await push()).out).toBe('Nothing is new: the team has all of that.\n');

    other.write({ 'mine.txt': 'mine\n' });
    const fetched = await fetch(other);
    expect({ ...fetched }).toEqual({
      code: 0,
      err: '',
      out: `Fetched 1 branch of the team; yours stay as they are.\n  suzumio/tides/main new -> ${first.slice(0, 10)}\n`,
    });
    expect(other.git('for-each-ref', '--format=%(refname)')).toBe('refs/remotes/suzumio/tides/main');
    expect(other.git('status', '--porcelain')).toBe('?? mine.txt');
    expect((await fetch(other)).out).toBe('Nothing is new: suzumio/tides/* is as the team has it.\n');
    // Without a server the data directory is read.
    world.setEnvironment({});
    const offline = await world.run(
      '--root',
      api.cell.directory.root,
      'git',
      'fetch',
      'tides',
      '--repository',
      own.path,
    );
    expect(offline).toMatchObject({ code: 0, out: expect.stringContaining('Nothing is new') });
  });

  test('brings what is new only, and it is whole for everybody', async () => {
    const lines = Array.from({ length: 2_000 }, (_, line) => `line ${line}\n`).join('');
    own.commit({ 'long.txt': lines });
    await push();
    const last = own.commit({ 'long.txt': `${lines}one more\n` });
    const { pack } = (JSON.parse((await push('--json')).out) as { push: { pack: { objects: number } } }).push;
    expect(pack.objects).toBe(3);
    expect(gitIn(await cloned('clone'), 'rev-parse', 'HEAD')).toBe(last);
  });

  test('takes what git push takes: names, tags, deletions, several at once', async () => {
    own.git('tag', '--annotate', 'v1', '--message', 'One');
    expect((await push('main:trunk', 'v1')).code).toBe(0);
    expect(await refs()).toEqual({ 'refs/heads/trunk': first, 'refs/tags/v1': own.git('rev-parse', 'v1') });
    // Git could not hold a branch beside one below its name.
    expect((await push(':trunk', 'main:trunk/new', ':refs/tags/v1')).err).toContain('Nothing was pushed');
    expect((await push(':trunk', ':refs/tags/v1')).code).toBe(0);
    expect((await push('main:trunk/new')).code).toBe(0);
    expect(await refs()).toEqual({ 'refs/heads/trunk/new': first });
    await fetch();
    expect(own.git('for-each-ref', '--format=%(refname)', 'refs/remotes')).toBe('refs/remotes/suzumio/tides/trunk/new');
  });

  test('moves a branch forward only, and says how to', async () => {
    await push();
    const second = own.commit({ 'b.txt': 'b\n' }, 'Second');
    await fetch(other);
    other.git('checkout', '--quiet', '-b', 'main', 'suzumio/tides/main');
    const theirs = other.commit({ 'c.txt': 'c\n' }, 'Theirs');
    await world.run('git', 'push', 'tides', '--repository', other.path);
    for (const refspec of [[], ['main'], ['+main'], ['main:main', 'main:other']]) {
      const { code, out, err } = await push(...refspec);
      expect({ refspec, code, out, err }).toEqual({
        refspec,
        code: 3,
        out: '',
        err: 'Nothing was pushed: main of the team has what yours lacks. Fetch it (suzumio git fetch tides), merge it (git merge suzumio/tides/main) or rebase, and push again.\n',
      });
    }
    expect(await refs()).toEqual({ [main]: theirs });
    expect(own.git('rev-parse', 'main')).toBe(second);
    await fetch();
    own.git('merge', '--quiet', '--no-edit', 'suzumio/tides/main');
    expect((await push()).code).toBe(0);
    const clone = await cloned('merged');
    expect(['a.txt', 'b.txt', 'c.txt'].every((name) => existsSync(join(clone, name)))).toBe(true);
  });

  test('says what is wrong with what was asked, and leaves nothing behind', async () => {
    const before = leftovers();
    expect(await push('nothing')).toMatchObject({
      code: 3,
      err: 'Nothing was pushed: git says: error: src refspec nothing does not match any\n',
    });
    expect((await push('main:refs/notes/x')).err).toContain('refs/notes/x is not the name of a branch or a tag');
    own.git('checkout', '--quiet', '--detach');
    expect((await push()).err).toMatch(/^Nothing was pushed: git says: fatal: You are not currently on a branch/);
    own.git('checkout', '--quiet', 'main');
    own.commit({ 'b.txt': 'b\n' });
    const shallow = join(world.directory, 'shallow');
    gitIn(world.directory, 'clone', '--quiet', '--depth=1', `file://${own.path}`, shallow);
    const short = await world.run('git', 'push', 'tides', '--repository', shallow);
    expect(short).toMatchObject({ code: 3, err: expect.stringContaining('shallow update not allowed') });
    expect(await world.run('git', 'push', 'tides', '--repository', world.directory)).toMatchObject({
      code: 3,
      err: `${world.directory} is in no work tree of a Git repository: go into one, or name it with --repository.\n`,
    });
    world.setEnvironment({ SUZUMIO_URL: api.url, SUZUMIO_TOKEN: await api.token('read') });
    expect(await push()).toMatchObject({ code: 3, err: expect.stringContaining('operate') });
    expect(await refs()).toEqual({});
    expect(leftovers()).toEqual(before);
  });

  test('asks no hook, no credential and no setting that is for other remotes', async () => {
    const hook = join(own.path, '.git', 'hooks', 'pre-push');
    writeFileSync(hook, '#!/bin/sh\nexit 1\n', { mode: 0o755 });
    for (const [key, value] of [
      ['push.default', 'nothing'],
      ['push.gpgSign', 'true'],
      ['push.pushOption', 'ci.skip'],
      ['core.hooksPath', join(own.path, '.git', 'hooks')],
      ['receive.denyDeletes', 'true'],
    ] as const) {
      own.git('config', key, value);
    }
    expect(await push()).toMatchObject({ code: 0, err: '' });
    expect((await push(':main')).code).toBe(0);
  });

  const optionsOf = async (change: Partial<PushOptions>): Promise<PushOptions> => ({
    api: createClient({ url: api.url, token: api.adminToken }),
    project: 'tides',
    own: await OwnRepository.at(own.path, { PATH: process.env['PATH'] }),
    env: { PATH: process.env['PATH'] },
    log: () => undefined,
    refspecs: [],
    ...change,
  });

  test('moves nothing where an agent pushes meanwhile', async () => {
    await push();
    const theirs = other.commit({ 'c.txt': 'c\n' }, 'Theirs');
    own.commit({ 'b.txt': 'b\n' }, 'Second');
    const client = createClient({ url: api.url, token: api.adminToken });
    const between: PushOptions['api'] = {
      ...client,
      async uploadSharedPack(...asked) {
        const answer = await client.uploadSharedPack(...asked);
        const update = { ref: branch, from: null, to: theirs };
        await pushByAgent(api, 'tides', 'ada', [update], packOf(other, `${theirs}\n`));
        return answer;
      },
    };
    const both = await optionsOf({ api: between, refspecs: ['main', 'main:suzumio/ada'] });
    await expect(pushToTeam(both)).rejects.toMatchObject({
      code: 'git-ref-moved',
      message: expect.stringContaining(`${branch} is at ${theirs} meanwhile: fetch, and push again.`),
    });
    expect(await refs()).toEqual({ [main]: first, [branch]: theirs });
  });

  test('sends nothing that is over the bound', async () => {
    await expect(pushToTeam(await optionsOf({ maxBytes: 100 }))).rejects.toMatchObject({
      code: 'git-refused',
      message: expect.stringMatching(
        /^Nothing was pushed: a push has at most 100 bytes, and this one has \d+: push an older commit of it first\.$/,
      ),
    });
    expect(await api.rows('tides', 'SELECT sha256 FROM stored_content')).toEqual([]);
  });
});

describe('what agents have spoiled', () => {
  test('is left out of what is fetched, with a sentence', async () => {
    await push();
    const theirs = other.commit({ 'c.txt': 'c\n' }, 'Theirs');
    const broken = packOf(other, `${theirs}\n^${theirs}^{tree}\n`);
    await pushByAgent(api, 'tides', 'ada', [{ ref: branch, from: null, to: theirs }], broken);
    const { code, out, err } = await fetch();
    expect([code, out]).toEqual([0, 'Nothing is new: suzumio/tides/* is as the team has it.\n']);
    expect(err).toContain(`${branch} is left out`);
    // Once it is whole, it comes.
    await pushByAgent(api, 'tides', 'ada', [{ ref: branch, from: theirs, to: null }]);
    await pushByAgent(api, 'tides', 'ada', [{ ref: branch, from: null, to: theirs }], packOf(other, `${theirs}\n`));
    expect(await fetch()).toMatchObject({ code: 0, err: expect.stringContaining('push 2') });
    expect(own.git('rev-parse', 'suzumio/tides/suzumio/ada')).toBe(theirs);
  });

  test('prints no control characters of names that agents have given', async () => {
    const name = `${branch}/red\u009b31m\u202ex`;
    await pushByAgent(api, 'tides', 'ada', [{ ref: name, from: null, to: 'e'.repeat(40) }]);
    const { code, err } = await fetch();
    expect([code, err]).toEqual([0, expect.stringContaining('is left out')]);
    expect(err).not.toMatch(/[\u009b\u202e]/);
  });

  test('keeps a person from leaving nothing out of a push', async () => {
    const second = own.commit({ 'b.txt': 'b\n' }, 'Second');
    // A branch at what no push has brought, and the person has.
    await pushByAgent(api, 'tides', 'ada', [{ ref: branch, from: null, to: second }]);
    const { code, err } = await push();
    expect([code, err]).toEqual([0, expect.stringContaining(`${branch} is left out`)]);
    expect(gitIn(await cloned('whole'), 'rev-list', '--count', 'HEAD')).toBe('2');
  });
});

test('where nothing is shared, and where nothing was pushed, a fetch says so', async () => {
  await api.create();
  const from = async (project: string) => (await world.run('git', 'fetch', project, '--repository', own.path)).out;
  expect(await from('team')).toBe(
    'The agents of team share no repository: its file says nothing of git: { shared: true }.\n',
  );
  expect(await from('tides')).toBe('Nothing has been pushed in tides yet.\n');
});

test('what another project of the name had is not taken for what this one has', async () => {
  await push();
  await api.call('DELETE', '/api/projects/tides');
  await api.create(shared);
  expect(await fetch()).toMatchObject({
    code: 0,
    out: expect.stringContaining(`main ${first.slice(0, 10)} -> deleted`),
  });
  expect((await push()).out).toContain('with 3 objects');
  expect(readFileSync(join(await cloned('anew'), 'a.txt'), 'utf8')).toBe('a\n');
});
