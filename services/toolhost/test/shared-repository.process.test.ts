import { execFileSync } from 'node:child_process';
import { createHash } from 'node:crypto';
import { mkdirSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { utimes } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterEach, beforeEach, expect, test } from '@jest/globals';
import { defaultStorageLimits } from '@suzumio/contract/model/storage';
import { collectContent } from '@suzumio/store/content/collect-content';
import { ContentStore } from '@suzumio/store/content/content-store';
import { turnRow } from '@suzumio/store/rows';
import { cancelTurn } from '@suzumio/store/turns/end-turn';
import { sealed } from '../../control-plane/test/support/packs.js';
import { type Answer, type Begun, type ToolhostBench, toolhostBench } from './toolhost-client.js';

const yaml = `
name: lab
task: Mend it.
git: { shared: true, maintainers: [boss] }
backend: { runner: { mode: mock } }
agents:
  dev: { role: developer, prompt: Mend. }
  tester: { role: tester, prompt: Test. }
  boss: { role: boss, prompt: Lead. }
`;
const project = 'lab';
const own = 'refs/heads/suzumio/dev';

let bench: ToolhostBench;
let base: string;
let keys = 0;
beforeEach(async () => {
  bench = await toolhostBench();
  base = mkdtempSync(join(tmpdir(), 'suzumio-pack-'));
});
afterEach(async () => {
  rmSync(base, { recursive: true, force: true });
  await bench.close();
});

function git(args: readonly string[], input?: string | Buffer): Buffer {
  const env = { PATH: process.env['PATH'], HOME: base, GIT_CONFIG_NOSYSTEM: '1', GIT_CONFIG_GLOBAL: '/dev/null' };
  const who = ['-c', 'user.name=Yuki', '-c', 'user.email=yuki@example.org'];
  return execFileSync('git', ['-C', base, ...who, ...args], { env, input, stdio: ['pipe', 'pipe', 'pipe'] });
}

/** A commit with many versions of a file, and the pack of its whole history, with deltas. */
function history(commits = 12): { commit: string; pack: Buffer } {
  git(['init', '--quiet', '--initial-branch=main']);
  mkdirSync(join(base, 'src'), { recursive: true });
  for (let number = 0; number < commits; number += 1) {
    const lines = Array.from({ length: 400 }, (_, line) => `line ${String(line)} ${line === number ? 'new' : 'old'}`);
    writeFileSync(join(base, 'src', 'file.txt'), lines.join('\n'));
    git(['add', '--all']);
    git(['commit', '--quiet', '--message', `Commit ${String(number)}`]);
  }
  const commit = git(['rev-parse', 'HEAD']).toString().trim();
  const pack = git(['pack-objects', '--revs', '--stdout', '--delta-base-offset', '-q'], 'HEAD\n');
  return { commit, pack };
}

const sha256 = (bytes: Buffer) => createHash('sha256').update(bytes).digest('hex');
const url = (path: string) => `${bench.toolhost.runnerUrl}${path}`;

async function send(of: Begun, pack: Buffer): Promise<string> {
  const hash = sha256(pack);
  expect((await bench.put(url(`/git/packs/${hash}`), of.answer.toolToken, pack)).status).toBe(204);
  return hash;
}

function push(of: Begun, updates: unknown, more: object = {}): Promise<Answer> {
  keys += 1;
  const whose = { project, agent: of.answer.input.agent.id, turn: of.turn };
  const body = { ...whose, key: `key-${String(keys).padStart(8, '0')}`, updates, ...more };
  return bench.post(url('/git/push'), of.answer.toolToken, body);
}

async function get(of: Begun, path: string): Promise<Response> {
  return fetch(url(path), { headers: { authorization: `Bearer ${of.answer.toolToken}` } });
}

const state = async (of: Begun) => (await get(of, '/git')).json() as Promise<{ refs: unknown[]; packs: object[] }>;
const id = (character: string) => character.repeat(40);
const move = (ref: string, to: string | null, from: string | null = null) => [{ ref, from, to }];

test('what an agent pushes is on record, and others fetch it, however often it is sent', async () => {
  await bench.testing.create(yaml);
  const dev = await bench.begin(project, 'dev');
  const { commit, pack } = history();
  const hash = await send(dev, pack);
  const asked = { pack: hash, key: 'the-same-push' };
  expect(await push(dev, move(own, commit), asked)).toEqual({ status: 200, body: { push: 1 } });
  expect(await push(dev, move(own, commit), asked)).toEqual({ status: 200, body: { push: 1 } });
  expect((await push(dev, move(own, id('a')), asked)).body).toMatchObject({ code: 'git-ref-refused' });

  const tester = await bench.begin(project, 'tester');
  expect(await state(tester)).toEqual({
    refs: [{ ref: own, id: commit }],
    packs: [{ push: 1, sha256: hash, sizeBytes: pack.length }],
    more: false,
  });
  const fetched = Buffer.from(await (await get(tester, `/git/packs/${hash}`)).arrayBuffer());
  expect(fetched.equals(pack)).toBe(true);
  expect(await bench.testing.rows(project, `SELECT agent_id, turn_id, attempt FROM git_pushes`)).toEqual([
    { agent_id: 'dev', turn_id: dev.turn, attempt: 1 },
  ]);
  const [event] = await bench.testing.rows<{ data: string }>(
    project,
    `SELECT data_json AS data FROM events WHERE type = 'git.pushed'`,
  );
  expect(JSON.parse(event?.data ?? '')).toEqual({
    push: 1,
    updates: move(own, commit),
    objects: pack.readUInt32BE(8),
    sizeBytes: pack.length,
  });
});

test("a pack is kept as long as its project, and its size is its pusher's", async () => {
  await bench.testing.create(yaml);
  const dev = await bench.begin(project, 'dev');
  const { commit, pack } = history(2);
  const hash = await send(dev, pack);
  const unused = await send(dev, Buffer.from('never pushed'));
  await push(dev, move(own, commit), { pack: hash });
  // No branch has it any more.
  await push(dev, move(own, null, commit));
  const directory = bench.testing.cell.directory.projectDir(project);
  const content = new ContentStore(directory);
  for (const name of [hash, unused]) await utimes(join(directory, content.pathOf(name)), 0, 0);
  await bench.testing.cell.stores.use(project, (store) => collectContent(store, directory, Date.now()));
  expect([content.has(hash), content.has(unused)]).toEqual([true, false]);
  expect(await bench.testing.rows(project, `SELECT owner FROM stored_content WHERE sha256 = '${hash}'`)).toEqual([
    { owner: 'dev' },
  ]);
});

test('an agent moves its own branches, a maintainer all of them, and nobody what has moved meanwhile', async () => {
  await bench.testing.create(yaml);
  const [dev, boss] = [await bench.begin(project, 'dev'), await bench.begin(project, 'boss')];
  const code = async (answer: Promise<Answer>) => (await answer).body['code'] ?? 'moved';
  expect(await code(push(dev, move(own, id('1'))))).toBe('moved');
  for (const ref of ['refs/heads/main', 'refs/heads/suzumio/tester', 'refs/heads/suzumio/dev-2', 'refs/tags/v1']) {
    expect([ref, await code(push(dev, move(ref, id('1'))))]).toEqual([ref, 'git-ref-refused']);
  }
  expect(await code(push(boss, move('refs/heads/main', id('1'))))).toBe('moved');
  expect(await code(push(boss, move('refs/tags/v1', id('1'))))).toBe('moved');
  // Compared with where the pusher saw it, and all or nothing.
  expect(await code(push(boss, move('refs/heads/main', id('2'))))).toBe('git-ref-moved');
  expect(await code(push(boss, move('refs/heads/main', id('2'), id('3'))))).toBe('git-ref-moved');
  const both = [...move('refs/heads/main', id('2'), id('1')), ...move(own, id('2'), id('9'))];
  expect(await code(push(boss, both))).toBe('git-ref-moved');
  expect(await code(push(dev, move(own, id('1'), id('1'))))).toBe('git-ref-refused');
  expect(await code(push(dev, [...move(own, id('2'), id('1')), ...move(own, id('3'), id('2'))]))).toBe(
    'git-ref-refused',
  );
  // Git could not hold both.
  expect(await code(push(dev, move(`${own}/below`, id('1'))))).toBe('git-ref-refused');
  expect(await code(push(boss, move('refs/heads/suzumio', id('1'))))).toBe('git-ref-refused');
  const together = [...move('refs/heads/next/one', id('1')), ...move('refs/heads/next', id('1'))];
  expect(await code(push(boss, together))).toBe('git-ref-refused');
  expect(await code(push(boss, move('refs/heads/main', id('2'), id('1'))))).toBe('moved');
  expect((await state(dev)).refs).toEqual([
    { ref: 'refs/heads/main', id: id('2') },
    { ref: own, id: id('1') },
    { ref: 'refs/tags/v1', id: id('1') },
  ]);
});

test('no reference has a name that Git does not take, or would take for more', async () => {
  await bench.testing.create(yaml);
  const boss = await bench.begin(project, 'boss');
  const names = [
    `${own}/../../../hooks/post-update`,
    `${own}/.git`,
    `${own}/a.lock`,
    `${own}/a..b`,
    `${own}/a\nrefs/heads/main`,
    `${own}/a b`,
    `${own}/-x`,
    `${own}/@{1}`,
    'refs/heads/',
    'refs/heads/HEAD',
    'refs/suzumio/x',
    'refs/remotes/origin/main',
    'HEAD',
    'config',
    '../config',
    '--upload-pack=touch /tmp/x',
  ];
  for (const ref of names) expect([ref, (await push(boss, move(ref, id('1')))).status]).toEqual([ref, 400]);
  // No symbolic reference, and no other object format.
  for (const to of ['ref: refs/heads/main', 'f'.repeat(64), '-x']) {
    expect((await push(boss, move('refs/heads/x', to))).status).toBe(400);
  }
  expect((await state(boss)).refs).toEqual([]);
});

test('no reference has a name that no disk has a file for: whoever fetches would fetch nothing', async () => {
  await bench.testing.create(yaml);
  const dev = await bench.begin(project, 'dev');
  for (const name of ['é'.repeat(200), 'x\ud800y']) {
    expect((await push(dev, move(`${own}/${name}`, id('1')))).body).toMatchObject({ code: 'git-ref-refused' });
  }
  expect((await push(dev, move(`${own}/${'é'.repeat(125)}`, id('1')))).status).toBe(200);
});

test('references are bounded, in one push and together', async () => {
  await bench.testing.create(yaml);
  const dev = await bench.begin(project, 'dev');
  const some = (from: number, count: number) =>
    Array.from({ length: count }, (_, index) => move(`${own}/${String(from + index)}`, id('1'))).flat();
  expect((await push(dev, some(0, 51))).body).toMatchObject({ code: 'invalid-request' });
  for (let from = 0; from < 1000; from += 50) expect((await push(dev, some(from, 50))).status).toBe(200);
  expect((await push(dev, some(1000, 1))).body).toMatchObject({ status: 422, code: 'git-refs-full' });
  expect((await push(dev, [{ ref: `${own}/7`, from: id('1'), to: null }, ...some(1000, 1)])).status).toBe(200);
});

test('a flood of questions for a long state keeps another project waiting for few of them', async () => {
  await bench.testing.create(yaml);
  await bench.testing.create(yaml.replace('name: lab', 'name: other'));
  const [dev, other] = [await bench.begin(project, 'dev'), await bench.begin('other', 'dev')];
  const long = 'x'.repeat(200);
  for (let from = 0; from < 1000; from += 50) {
    const some = Array.from({ length: 50 }, (_, index) => move(`${own}/${long}${String(from + index)}`, id('1')));
    expect((await push(dev, some.flat())).status).toBe(200);
  }
  // Their connections are there before.
  await Promise.all(Array.from({ length: 17 }, async () => (await get(other, '/git')).arrayBuffer()));
  const order: string[] = [];
  const asked = async (of: Begun, name: string) => {
    const answer = await get(of, '/git');
    expect(answer.status).toBe(200);
    await answer.arrayBuffer();
    order.push(name);
  };
  await Promise.all([...Array.from({ length: 16 }, () => asked(dev, 'long')), asked(other, 'other')]);
  expect(order).toHaveLength(17);
  expect(order.indexOf('other')).toBeLessThan(8);
});

test('whose attempt is over pushes nothing, nor does anybody where nothing is shared', async () => {
  await bench.testing.create(yaml);
  const dev = await bench.begin(project, 'dev');
  const { commit, pack } = history(1);
  const hash = await send(dev, pack);
  await bench.testing.write(project, (tx) => cancelTurn(tx, turnRow(tx, dev.turn), 'why', 'me'));
  expect(await push(dev, move(own, commit), { pack: hash })).toMatchObject({
    status: 401,
    body: { code: 'token-rejected' },
  });
  for (const path of ['/git', `/git/packs/${hash}`]) expect((await get(dev, path)).status).toBe(401);
  expect((await bench.put(url(`/git/packs/${hash}`), dev.answer.toolToken, pack)).status).toBe(401);
  expect(await bench.testing.rows(project, 'SELECT seq FROM git_pushes')).toEqual([]);

  await bench.testing.create(yaml.replace('name: lab', 'name: alone').replace(/^git:.*$/m, ''));
  const alone = await bench.begin('alone', 'dev');
  expect(await (await get(alone, '/git')).json()).toMatchObject({ status: 404, code: 'git-not-shared' });
});

test('a turn that has ended with a call pushes nothing any more, while its runner still runs', async () => {
  await bench.testing.create(yaml.replace('prompt: Mend.', 'prompt: Mend., tools: [completion.submit]'));
  const dev = await bench.begin(project, 'dev');
  const asked = { key: 'the-first-push' };
  expect((await push(dev, move(own, id('1')), asked)).status).toBe(200);
  const whose = { project, agent: 'dev', turn: dev.turn, tool: 'completion.submit', step: '0.0' };
  const submitted = { ...whose, input: { report: 'It is at 1.' } };
  expect((await bench.post(url('/tool'), dev.answer.toolToken, submitted)).status).toBe(200);
  const late = await push(dev, move(own, id('2'), id('1')), { pack: 'f'.repeat(64) });
  expect(late).toMatchObject({ status: 409, body: { code: 'turn-ended' } });
  expect(await push(dev, move(own, id('1')), asked)).toEqual({ status: 200, body: { push: 1 } });
  expect(await bench.testing.rows(project, 'SELECT object_id AS id FROM git_refs')).toEqual([{ id: id('1') }]);
});

test('a pack that comes again is named once, with the push that has brought it', async () => {
  await bench.testing.create(yaml);
  const dev = await bench.begin(project, 'dev');
  const { commit, pack } = history(1);
  const hash = await send(dev, pack);
  for (const [from, to] of [
    [null, commit],
    [commit, id('1')],
    [id('1'), commit],
  ] as const) {
    expect((await push(dev, move(own, to, from), { pack: hash })).status).toBe(200);
  }
  expect((await state(dev)).packs).toEqual([{ push: 1, sha256: hash, sizeBytes: pack.length }]);
  expect(await (await get(dev, '/git?after=1')).json()).toMatchObject({ packs: [], more: false });
});

test('a pack is inspected before anything refers to it', async () => {
  await bench.testing.create(yaml);
  const dev = await bench.begin(project, 'dev');
  const whole = history(1).pack;
  // A header that counts one object more.
  const broken = sealed(whole.subarray(12, -20), whole.readUInt32BE(8) + 1);
  const hash = await send(dev, broken);
  expect((await push(dev, move(own, id('1')), { pack: hash })).body).toMatchObject({
    status: 422,
    code: 'git-pack-invalid',
    detail: expect.stringMatching(/^The pack has an object \(number 5 of 5, at byte \d+\) that ends too early\.$/),
  });
  expect((await push(dev, move(own, id('1')), { pack: 'f'.repeat(64) })).body).toMatchObject({
    code: 'content-missing',
  });
  expect(await state(dev)).toEqual({ refs: [], packs: [], more: false });
  // What is stored otherwise is no pack that may be fetched.
  expect((await get(dev, `/git/packs/${hash}`)).status).toBe(404);
});

test('a turn pushes no more often than it may call tools', async () => {
  await bench.testing.create(`${yaml}turn: { maxToolCalls: 2 }\n`);
  const dev = await bench.begin(project, 'dev');
  const asked = { key: 'the-first-push' };
  expect((await push(dev, move(own, id('1')), asked)).status).toBe(200);
  expect((await push(dev, move(own, id('2'), id('1')))).status).toBe(200);
  const third = await push(dev, move(own, id('3'), id('2')), { pack: 'f'.repeat(64) });
  expect(third).toMatchObject({ status: 429, body: { code: 'tool-limit-reached' } });
  expect(await push(dev, move(own, id('1')), asked)).toEqual({ status: 200, body: { push: 1 } });
  expect(await bench.testing.rows(project, 'SELECT object_id AS id FROM git_refs')).toEqual([{ id: id('2') }]);
});

test('an agent whose rows have no room pushes nothing, and its pack is not looked at', async () => {
  await bench.close();
  const { agent } = defaultStorageLimits;
  bench = await toolhostBench({}, {}, { storage: { ...defaultStorageLimits, agent: { ...agent, rows: 1 } } });
  await bench.testing.create(yaml);
  const dev = await bench.begin(project, 'dev');
  const refused = await push(dev, move(own, id('1')), { pack: 'f'.repeat(64) });
  expect(refused).toMatchObject({ status: 403, body: { code: 'quota-exceeded' } });
  expect(await bench.testing.rows(project, 'SELECT * FROM git_refs')).toEqual([]);
});
