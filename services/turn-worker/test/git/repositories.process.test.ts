import {
  existsSync,
  mkdirSync,
  mkdtempSync,
  readFileSync,
  readdirSync,
  renameSync,
  rmSync,
  symlinkSync,
  writeFileSync,
} from 'node:fs';
import { createServer, type Server } from 'node:http';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterEach, beforeEach, describe, expect, test } from '@jest/globals';
import type { CloneRequest } from '@suzumio/protocol/repository';
import { Repositories, type RepositoriesOptions } from '../../src/git/repositories.js';
import { gitIn, TestRepository } from '../support/repository.js';

const author = { name: 'Aoi', email: 'developer@tides.invalid' };
const bounds = { maxBytes: 64 * 1024 ** 2, maxFileBytes: 16 * 1024 ** 2, maxEntries: 1_000 };

let base: string;
let origin: TestRepository;
let first: string;
let second: string;
let clones: number;

beforeEach(() => {
  base = mkdtempSync(join(tmpdir(), 'suzumio-git-'));
  origin = new TestRepository(join(base, 'tides'));
  first = origin.commit({ 'tides.py': 'print(1)\n' });
  origin.git('tag', 'v1');
  second = origin.commit({ 'tides.py': 'print(2)\n', 'docs/read me.md': 'tides\n' });
  clones = 0;
});

afterEach(() => rmSync(base, { recursive: true, force: true }));

function repositories(options: Partial<RepositoriesOptions> = {}): Repositories {
  return new Repositories({ directory: join(base, 'worker', 'git'), bounds, cloneMs: 30_000, ...options });
}

interface Cloned {
  commit: string;
  tracked: string[];
  path: string;
  git: (...args: string[]) => string;
}

async function cloned(
  request: Partial<CloneRequest> = {},
  by = repositories(),
  files: Readonly<Record<string, string>> = {},
): Promise<Cloned> {
  const path = join(base, 'worker', `workspace-${++clones}`);
  mkdirSync(path, { recursive: true });
  for (const [name, text] of Object.entries(files)) {
    mkdirSync(join(path, name, '..'), { recursive: true });
    writeFileSync(join(path, name), text);
  }
  const asked = { git: origin.path, branch: 'suzumio/developer', ...request };
  const ignored = ['node_modules', 'build/cache'];
  const to = { author, check: () => undefined, ignored, signal: new AbortController().signal };
  return { ...(await by.clone(asked, path, to)), path, git: (...args) => gitIn(path, ...args) };
}

/** The code and the message of the failure. */
async function refusal(request: Partial<CloneRequest>, by?: Repositories): Promise<string> {
  return cloned(request, by).then(
    () => 'none',
    (error: unknown) => `${(error as { code?: string }).code}: ${(error as Error).message}`,
  );
}

describe('a clone', () => {
  test("begins at the default branch's last commit, on the agent's branch", async () => {
    const { commit, path, git } = await cloned();
    expect(commit).toBe(second);
    expect(git('rev-parse', 'HEAD', 'suzumio/base')).toBe(`${second}\n${second}`);
    expect(git('symbolic-ref', 'HEAD')).toBe('refs/heads/suzumio/developer');
    expect(git('log', '--format=%s')).toBe('Change something\nChange something');
    expect(git('status', '--porcelain')).toBe('');
    expect(readFileSync(join(path, 'docs/read me.md'), 'utf8')).toBe('tides\n');
    expect(git('config', '--local', 'user.name')).toBe('Aoi');
  });

  test.each([
    ['a branch', () => ({ ref: 'old' })],
    ['a tag', () => ({ ref: 'v1' })],
    ['a full reference', () => ({ ref: 'refs/tags/v1' })],
    ['a commit', () => ({ ref: first })],
  ])('begins at %s', async (_, request) => {
    origin.git('branch', 'old', first);
    expect((await cloned(request())).commit).toBe(first);
  });

  test('has as much history as it asks for', async () => {
    const { git } = await cloned({ depth: 1 });
    expect(git('rev-list', '--count', 'HEAD')).toBe('1');
  });

  test('has what was committed since the last one', async () => {
    const by = repositories();
    await cloned({}, by);
    const third = origin.commit({ 'tides.py': 'print(3)\n' });
    expect((await cloned({}, by)).commit).toBe(third);
    // After a rewrite, too.
    origin.git('reset', '--hard', '--quiet', first);
    expect((await cloned({}, by)).commit).toBe(first);
  });

  test('shares nothing with the mirror, and names no path of the host', async () => {
    const { path } = await cloned();
    const files = readdirSync(path, { recursive: true, withFileTypes: true }).filter((entry) => entry.isFile());
    for (const file of files) {
      const text = readFileSync(join(file.parentPath, file.name), 'latin1');
      expect([file.name, text.includes(base)]).toEqual([file.name, false]);
    }
    expect(existsSync(join(path, '.git/objects/info/alternates'))).toBe(false);
    expect(readdirSync(join(path, '.git/hooks').replace(/hooks$/, ''))).not.toContain('hooks');
  });

  test('names what of it lies in directories that are not captured', async () => {
    expect((await cloned()).tracked).toEqual([]);
    const files = ['test/node_modules/a/x.js', 'test/node_modules/node_modules/y.js', 'build/cache/z'];
    origin.commit(Object.fromEntries(['node_modules.md', 'src/node_modules', ...files].map((path) => [path, path])));
    expect((await cloned()).tracked).toEqual(files.toSorted());
    // So long that 140 paths are more than a base names.
    const long = Array.from({ length: 4 }, () => 'x'.repeat(240)).join('/');
    const many = Array.from({ length: 140 }, (_, n) => String(n));
    origin.commit(Object.fromEntries(many.map((n) => [`test/node_modules/${long}/${n}.js`, ''])));
    expect((await cloned()).tracked).toEqual(['build/cache', 'test/node_modules']);
    origin.commit(Object.fromEntries(many.map((n) => [`${long}/${n}/node_modules/x`, ''])));
    expect(await refusal({})).toMatch(/^repository-unsupported: .* has files in too many directories/);
  });

  test('is made over what one that was not recorded has left in such directories', async () => {
    origin.commit({ 'node_modules/a.js': 'tracked' });
    const left = { 'node_modules/a.js': 'of before', 'node_modules/b.js': 'of before' };
    const { path } = await cloned({}, repositories(), left);
    expect(readFileSync(join(path, 'node_modules/a.js'), 'utf8')).toBe('tracked');
  });

  test('of the same commit has the same pack, so that its content is stored once', async () => {
    for (let at = 0; at < 30; at += 1) origin.commit({ [`${at}.txt`]: 'line\n'.repeat(at * 10) });
    const by = repositories();
    const packs = await Promise.all(
      [1, 2].map(async () => readdirSync(join((await cloned({}, by)).path, '.git/objects/pack'))),
    );
    expect(packs[0]).toEqual(packs[1]);
  });

  test("is made once Git's home could be made", async () => {
    const by = repositories();
    mkdirSync(join(base, 'worker/git'), { recursive: true });
    writeFileSync(join(base, 'worker/git/home'), '');
    expect(await refusal({}, by)).toMatch(/^EEXIST: /);
    rmSync(join(base, 'worker/git/home'));
    expect((await cloned({}, by)).commit).toBe(second);
  });

  test('is made anew where a process was killed while it fetched', async () => {
    await cloned();
    const mirrors = join(base, 'worker/git/mirrors');
    const [mirror = ''] = readdirSync(mirrors);
    writeFileSync(join(mirrors, `${mirror}.unfinished`), '');
    rmSync(join(mirrors, mirror, 'objects'), { recursive: true });
    expect((await cloned()).commit).toBe(second);
  });
});

describe('nothing of a repository runs on the host', () => {
  const marker = () => join(base, 'ran');
  const script = () => `#!/bin/sh\ntouch ${marker()}\n`;

  test('neither its hooks, its fsmonitor, its filters, nor what its configuration names', async () => {
    const gitDir = join(origin.path, '.git');
    origin.commit({ '.gitattributes': '* filter=evil diff=evil merge=evil\n', 'evil.txt': 'evil\n' });
    const blob = origin.git('rev-parse', 'HEAD:evil.txt');
    const run = join(base, 'run');
    writeFileSync(run, script(), { mode: 0o755 });
    mkdirSync(join(gitDir, 'hooks'), { recursive: true });
    for (const hook of ['post-checkout', 'reference-transaction', 'post-index-change', 'pre-auto-gc'])
      writeFileSync(join(gitDir, 'hooks', hook), script(), { mode: 0o755 });
    for (const name of [
      'core.fsmonitor',
      'core.sshCommand',
      'core.askPass',
      'core.pager',
      'core.alternateRefsCommand',
      'filter.evil.smudge',
      'filter.evil.clean',
      'filter.evil.process',
      'diff.evil.textconv',
      'diff.external',
      'credential.helper',
      'uploadpack.packObjectsHook',
      'gpg.program',
    ])
      origin.git('config', name, run);
    origin.git('config', 'core.hooksPath', join(gitDir, 'hooks'));
    // An object that is missing would be fetched from a promisor with a command of the repository's choice.
    origin.git('config', 'remote.evil.url', base);
    origin.git('config', 'remote.evil.promisor', 'true');
    origin.git('config', 'remote.evil.uploadpack', run);
    origin.git('config', 'extensions.partialClone', 'evil');
    await cloned();
    rmSync(join(gitDir, 'objects', blob.slice(0, 2), blob.slice(2)));
    expect(await refusal({ depth: 1 })).not.toBe('none');
    expect(existsSync(marker())).toBe(false);
    // For anybody else it would have run.
    origin.git('update-ref', 'refs/heads/other', 'HEAD');
    expect(existsSync(marker())).toBe(true);
  });

  test('nor what the environment and the home of the worker name', async () => {
    writeFileSync(join(base, 'run'), script(), { mode: 0o755 });
    const kept = { ...process.env };
    Object.assign(process.env, {
      GIT_SSH_COMMAND: join(base, 'run'),
      GIT_CONFIG_COUNT: '1',
      GIT_CONFIG_KEY_0: 'core.fsmonitor',
      GIT_CONFIG_VALUE_0: join(base, 'run'),
      GIT_EXTERNAL_DIFF: join(base, 'run'),
      GIT_EXEC_PATH: base,
    });
    try {
      expect((await cloned()).commit).toBe(second);
    } finally {
      process.env = kept;
    }
    expect(existsSync(marker())).toBe(false);
  });
});

describe('a repository is refused by what it is', () => {
  test.each([
    ['absent', () => ({ git: join(base, 'nothing') }), 'repository-refused: There is no repository at'],
    ['no repository', () => ({ git: base }), 'repository-refused: There is no repository at'],
    ['without that branch', () => ({ ref: 'nope' }), 'ref-unknown: '],
    ['without that commit', () => ({ ref: 'a'.repeat(40) }), 'ref-unknown: '],
    ['of half a commit id', () => ({ ref: first.slice(0, 8) }), 'ref-unknown: '],
    ['of a tree', () => ({ ref: origin.git('rev-parse', 'HEAD^{tree}') }), 'ref-unknown: '],
  ])('%s', async (_, request, told) => {
    expect((await refusal(request())).slice(0, told.length)).toBe(told);
  });

  test('with submodules', async () => {
    origin.git('submodule', '--quiet', 'add', origin.path, 'inner');
    origin.commit({});
    expect(await refusal({})).toMatch(
      /^repository-unsupported: .* has a submodule \("inner"\); submodules are not cloned/,
    );
  });

  test.each([
    ['.suzumio/teams.yaml', '.suzumio'],
    ['docs/.suzumio-1.tmp', 'docs/.suzumio-1.tmp'],
  ])('with what Suzumio would take for its own (%s)', async (path, named) => {
    origin.commit({ [path]: 'theirs\n' });
    expect(await refusal({})).toBe(
      `repository-unsupported: ${origin.path} has ${JSON.stringify(named)}, a name of what Suzumio itself keeps in a workspace for a turn.`,
    );
    // Elsewhere the first is a name like any other.
    origin.git('reset', '--hard', '--quiet', second);
    origin.commit({ 'docs/.suzumio/teams.yaml': 'theirs\n' });
    const { git } = await cloned();
    expect(git('status', '--porcelain')).toBe('');
  });

  test('with a name that no workspace holds', async () => {
    const tree = origin.git('rev-parse', 'HEAD:docs');
    const blob = origin.git('rev-parse', 'HEAD:tides.py');
    const raw = Buffer.concat([
      Buffer.from('100644 caf\xe9\0', 'latin1'),
      Buffer.from(blob, 'hex'),
      Buffer.from('40000 docs\0'),
      Buffer.from(tree, 'hex'),
    ]);
    writeFileSync(join(base, 'tree'), raw);
    const made = origin.git('hash-object', '-t', 'tree', '-w', join(base, 'tree'));
    origin.git('branch', 'odd', origin.git('commit-tree', made, '-m', 'odd'));
    expect(await refusal({ ref: 'odd' })).toMatch(/^repository-unsupported: .* has a name that is not UTF-8/);
  });

  test('with an entry that Git itself refuses', async () => {
    const blob = origin.git('rev-parse', 'HEAD:tides.py');
    writeFileSync(join(base, 'tree'), Buffer.concat([Buffer.from('100644 .git\0'), Buffer.from(blob, 'hex')]));
    const made = origin.git('hash-object', '--literally', '-t', 'tree', '-w', join(base, 'tree'));
    origin.git('branch', 'odd', origin.git('commit-tree', made, '-m', 'odd'));
    expect(await refusal({ ref: 'odd' })).toMatch(
      /^repository-unsupported: .* Git itself refuses\. Git says: .*hasDotgit/,
    );
  });

  test('that a few objects make huge', async () => {
    // Ten levels of ten directories: ten billion files.
    let tree = origin.git('rev-parse', 'HEAD:docs');
    for (let level = 0; level < 10; level += 1) {
      const entries = Array.from({ length: 10 }, (_, at) => [Buffer.from(`40000 ${at}\0`), Buffer.from(tree, 'hex')]);
      writeFileSync(join(base, 'tree'), Buffer.concat(entries.flat()));
      tree = origin.git('hash-object', '-t', 'tree', '-w', join(base, 'tree'));
    }
    origin.git('branch', 'bomb', origin.git('commit-tree', tree, '-m', 'bomb'));
    expect(await refusal({ ref: 'bomb' })).toMatch(
      /^repository-too-large: .* has more than 1000 files and directories, and a workspace may not/,
    );
  });

  test('with a file that is too large, or a history', async () => {
    const small = { ...bounds, maxFileBytes: 20_000 };
    origin.commit({ 'zeros.txt': '0'.repeat(30_000) });
    expect(await refusal({}, repositories({ bounds: small }))).toMatch(
      /^repository-too-large: .* has a file of more than 20000 bytes \("zeros.txt"\)/,
    );
    origin.commit({ 'random.txt': randomText(60_000) });
    expect(await refusal({}, repositories({ bounds: small }))).toMatch(
      /^repository-too-large: .* fetch less of its history/,
    );
  });

  test('that leads elsewhere', async () => {
    const borrower = join(base, 'borrower');
    origin.git('clone', '--quiet', '--shared', origin.path, borrower);
    expect(await refusal({ git: borrower })).toMatch(/^repository-unsupported: .* borrows objects/);
    origin.git('worktree', 'add', '--quiet', join(base, 'tree'), 'v1');
    expect(await refusal({ git: join(base, 'tree') })).toMatch(/^repository-unsupported: .* is a work tree/);
    const linked = join(base, 'linked');
    mkdirSync(linked);
    for (const name of ['HEAD', 'refs', 'config']) symlinkSync(join(origin.path, '.git', name), join(linked, name));
    symlinkSync(join(origin.path, '.git', 'objects'), join(linked, 'objects'));
    expect(await refusal({ git: linked })).toMatch(/^repository-unsupported: .* leads elsewhere with a link/);
  });

  const linkTo = (target: string, place: string) => {
    rmSync(place, { recursive: true, force: true });
    symlinkSync(target, place);
  };

  test.each<[string, (gitDir: string, elsewhere: string) => void]>([
    [
      '.git',
      (gitDir, elsewhere) => {
        renameSync(gitDir, elsewhere);
        symlinkSync(elsewhere, gitDir);
      },
    ],
    ['commondir', (gitDir, elsewhere) => writeFileSync(join(gitDir, 'commondir'), `${elsewhere}\n`)],
    ['refs/heads', (gitDir, elsewhere) => linkTo(join(elsewhere, 'refs/heads'), join(gitDir, 'refs/heads/theirs'))],
    ['refs/tags', (gitDir, elsewhere) => linkTo(join(elsewhere, 'HEAD'), join(gitDir, 'refs/tags/theirs'))],
    ['objects/00', (gitDir, elsewhere) => linkTo(join(elsewhere, 'objects/00'), join(gitDir, 'objects/00'))],
    ['objects/pack', (gitDir, elsewhere) => linkTo(join(elsewhere, 'x'), join(gitDir, 'objects/pack/pack-x.pack'))],
    ['objects/info', (gitDir, elsewhere) => linkTo(elsewhere, join(gitDir, 'objects/info/alternates'))],
    ['info', (gitDir, elsewhere) => linkTo(elsewhere, join(gitDir, 'info'))],
    ['config', (gitDir, elsewhere) => linkTo(join(elsewhere, 'config'), join(gitDir, 'config'))],
  ])('whose %s leads elsewhere', async (place, lead) => {
    const path = join(base, 'hostile');
    origin.git('clone', '--quiet', '--no-local', origin.path, path);
    lead(join(path, '.git'), join(base, 'elsewhere'));
    const told = await refusal({ git: path });
    expect(told).toMatch(/^repository-unsupported: .* (leads elsewhere with a link|borrows|is a work tree)/);
    expect(told).toContain(place);
  });
});

describe('over HTTP', () => {
  let server: Server;
  let url: string;
  const asked: string[] = [];
  /** What the server answers, by path. */
  let answers: (path: string) => { status: number; headers?: Record<string, string>; body?: Buffer } | 'silence';

  beforeEach(async () => {
    asked.length = 0;
    server = createServer((request, response) => {
      const path = (request.url ?? '').split('?')[0] ?? '';
      asked.push(`${path} ${request.headers.authorization ?? ''}`.trim());
      const answer = answers(path);
      if (answer === 'silence') return;
      response.writeHead(answer.status, answer.headers).end(answer.body);
    });
    await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
    const { port } = server.address() as { port: number };
    url = `http://127.0.0.1:${port}`;
    origin.git('update-server-info');
    answers = (path) => {
      const file = join(origin.path, '.git', path.replace('/tides.git', ''));
      return existsSync(file) ? { status: 200, body: readFileSync(file) } : { status: 404 };
    };
  });

  afterEach(() => {
    server.closeAllConnections();
    server.close();
  });

  test('a repository is cloned', async () => {
    const { commit, git } = await cloned({ git: `${url}/tides.git` });
    expect(commit).toBe(second);
    expect(git('config', 'remote.origin.url')).toBe(`${url}/tides.git`);
  });

  test.each([
    ['private', 401, 'repository-refused'],
    ['forbidden', 403, 'repository-refused'],
    ['absent', 404, 'repository-refused'],
    ['away', 503, 'repository-unavailable'],
  ])('one that is %s', async (_, status, code) => {
    writeFileSync(join(base, '.netrc'), `machine 127.0.0.1 login yuki password geheim\n`);
    answers = () => ({ status, headers: { 'www-authenticate': 'Basic realm="x"' } });
    expect((await refusal({ git: `${url}/tides.git` })).split(':')[0]).toBe(code);
    expect(asked.every((line) => !line.includes('Basic'))).toBe(true);
  });

  test('a redirect is not followed', async () => {
    answers = () => ({ status: 302, headers: { location: `${url}/elsewhere.git/info/refs` } });
    expect(await refusal({ git: `${url}/tides.git` })).toMatch(/^repository-refused|^repository-unavailable/);
    expect(asked.filter((path) => path.startsWith('/elsewhere'))).toEqual([]);
  });

  test('a server that is silent is waited for no longer than allowed', async () => {
    answers = () => 'silence';
    const by = repositories({ cloneMs: 500 });
    expect(await refusal({ git: `${url}/tides.git` }, by)).toMatch(/could not be cloned within 500 ms/);
  });

  test('nothing of Git runs any more once a clone was stopped', async () => {
    answers = () => 'silence';
    const stop = new AbortController();
    const path = join(base, 'worker/workspace');
    mkdirSync(path, { recursive: true });
    const by = repositories();
    const asking = by.clone({ git: `${url}/tides.git`, branch: 'b' }, path, {
      author,
      check: () => undefined,
      signal: stop.signal,
    });
    while (asked.length === 0) await new Promise((resolve) => setTimeout(resolve, 10));
    stop.abort(new Error('stopped'));
    await expect(asking).rejects.toThrow('stopped');
    expect(gitProcesses()).toEqual([]);
  });
});

function randomText(length: number): string {
  let state = 1;
  return Array.from({ length }, () => {
    state = (state * 48271) % 2147483647;
    return String.fromCharCode(33 + (state % 90));
  }).join('');
}

/** The processes that this test's workers have started for Git. */
function gitProcesses(): string[] {
  return readdirSync('/proc').filter((pid) => {
    try {
      return /^\d+$/.test(pid) && readFileSync(`/proc/${pid}/environ`, 'utf8').includes(`SUZUMIO_GIT_MARK=${base}`);
    } catch {
      return false;
    }
  });
}
