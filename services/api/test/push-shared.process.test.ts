import { execFileSync } from 'node:child_process';
import { createHash } from 'node:crypto';
import { mkdtempSync, rmSync } from 'node:fs';
import { readdir } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterEach, beforeEach, expect, test } from '@jest/globals';
import { actListAnswer } from '@suzumio/contract/operations/acts';
import { sharedPushListAnswer, sharedRefListAnswer } from '@suzumio/contract/operations/shared-repository';
import { maxPackBytes } from '@suzumio/protocol/shared-repository';
import { ownersIn } from '@suzumio/store/content/charge-found';
import { teamYaml } from '../../../test/support/cell.js';
import { TestRepository } from '../../turn-worker/test/support/repository.js';
import { type Answer, type CallOptions, type TestApi, testApi } from './support/api.js';
import { push, submit } from './support/play.js';

const main = 'refs/heads/main';
const bytes = { 'content-type': 'application/octet-stream' };
const shared = teamYaml.replace('name: team', 'name: tides\ngit: { shared: true }\ntools: { toolpacks: [shell] }');

let api: TestApi;
let base: string;
let own: TestRepository;
let first: string;
beforeEach(async () => {
  api = await testApi();
  await api.create(shared);
  base = mkdtempSync(join(tmpdir(), 'suzumio-push-'));
  own = new TestRepository(join(base, 'tides'));
  first = own.commit({ 'tides.py': 'print(1)\n' }, 'First');
});
afterEach(async () => {
  await api.close();
  rmSync(base, { recursive: true, force: true });
});

const at = (path: string, project = 'tides') => `/api/projects/${project}/git/${path}`;

/** What commits have, as a pack that needs no other one. */
const packOf = (revisions: string, ...more: string[]): Buffer =>
  execFileSync('git', ['-C', own.path, 'pack-objects', '--revs', '--stdout', '--delta-base-offset', '-q', ...more], {
    input: `${revisions}\n`,
    stdio: ['pipe', 'pipe', 'ignore'],
  });

const upload = (pack: Buffer, options: CallOptions = {}, project?: string): Promise<Answer> =>
  api.call('POST', at('packs', project), { body: pack, ...options, headers: { ...bytes, ...options.headers } });
const hashOf = (pack: Buffer) => createHash('sha256').update(pack).digest('hex');
const move = (to: string | null, from: string | null = null, ref = main) => [{ ref, from, to }];
const pushes = async () => sharedPushListAnswer.parse((await api.get(at('pushes'))).json).items;
const refs = async () =>
  sharedRefListAnswer.parse((await api.get(at('refs'))).json).items.map(({ ref, id }) => [ref, id]);

/** A person's push of all that a commit has. */
async function send(to: string, from: string | null = null, options: CallOptions = {}): Promise<Answer> {
  const pack = packOf(to);
  await upload(pack, options);
  return api.post(at('pushes'), { updates: move(to, from), pack: hashOf(pack) }, options);
}

/** Every file below the project's content. */
async function stored(): Promise<string[]> {
  const directory = join(api.cell.directory.projectDir('tides'), 'artifacts');
  const entries = await readdir(directory, { recursive: true, withFileTypes: true }).catch(() => []);
  return entries.filter((entry) => entry.isFile()).map(({ name }) => name);
}

test('a person pushes: it is on record with who did it, and everybody gets what was brought', async () => {
  const token = await api.token('operate', 'tides');
  const pack = packOf(first);
  const sha256 = hashOf(pack);
  expect(await upload(pack, { token })).toMatchObject({ status: 200, json: { sha256, sizeBytes: pack.length } });
  const answer = await api.post(at('pushes'), { updates: move(first), pack: sha256 }, { token });
  const objects = pack.readUInt32BE(8);
  expect(answer).toMatchObject({
    status: 201,
    json: {
      seq: 1,
      actor: 'operate-1',
      agent: null,
      turn: null,
      turnNumber: null,
      attempt: null,
      updates: move(first),
      pack: { sha256, sizeBytes: pack.length, objects },
    },
  });
  expect(await pushes()).toEqual([answer.json]);
  expect((await api.get(at('refs'))).json).toMatchObject({
    items: [{ ref: main, id: first, push: 1, actor: 'operate-1', agent: null }],
  });
  const events = await api.rows<object>(
    'tides',
    `SELECT actor, agent_id, turn_id FROM events WHERE type = 'git.pushed'`,
  );
  expect(events).toEqual([{ actor: 'operate-1', agent_id: null, turn_id: null }]);

  const headers = { authorization: `Bearer ${await api.token('read', 'tides')}` };
  const got = await fetch(`${api.url}${at(`packs/${sha256}`)}`, { headers });
  expect(got.headers.get('content-disposition')).toContain('attachment');
  expect(Buffer.from(await got.arrayBuffer()).equals(pack)).toBe(true);
  expect(await api.get(at(`packs/${'f'.repeat(64)}`))).toMatchObject({ json: { code: 'git-pack-unknown' } });
  const owner = await api.store('tides', ({ reader }) =>
    ownersIn(reader, () => undefined)({ name: sha256, path: `artifacts/${sha256}` }),
  );
  expect(owner).toEqual({ owner: 'user', kind: 'uploads' });
  expect(await api.rows('tides', 'SELECT owner, kind FROM stored_content')).toEqual([owner]);
});

test('what people push is among what people did, and what agents push is not', async () => {
  await push(api, 'tides', 'ada', move(first, null, 'refs/heads/suzumio/ada'));
  await send(first);
  expect((await pushes()).map(({ actor, agent, turnNumber }) => [actor, agent, turnNumber])).toEqual([
    ['ada', 'ada', 1],
    ['admin', null, null],
  ]);
  const { items } = actListAnswer.parse((await api.get('/api/acts')).json);
  expect(items.filter(({ type }) => type === 'git.pushed').map(({ actor }) => actor)).toEqual(['admin']);
});

test('of pushes that race one wins, and the other is told where the branch is', async () => {
  await send(first);
  const [second, third] = ['second', 'third'].map((name) => {
    own.git('checkout', '--quiet', '-B', name, first);
    return own.commit({ [`${name}.txt`]: name }, name);
  });
  const answers = await Promise.all([send(second ?? '', first), send(third ?? '', first)]);
  expect(answers.map(({ status }) => status).sort()).toEqual([201, 409]);
  const [[, tip] = []] = await refs();
  expect([second, third]).toContain(tip);
  expect(answers.find(({ status }) => status === 409)?.json).toMatchObject({
    code: 'git-ref-moved',
    detail: `${main} is at ${String(tip)} meanwhile: fetch, and push again.`,
    ref: main,
    at: tip,
  });
  expect(await pushes()).toHaveLength(2);
  // And against an agent's push: all of the references move, or none.
  const branch = 'refs/heads/suzumio/ada';
  await push(api, 'tides', 'ada', move(first, null, branch));
  const both = [...move(first, tip), ...move(second ?? '', null, branch)];
  expect((await api.post(at('pushes'), { updates: both })).json).toMatchObject({ code: 'git-ref-moved', ref: branch });
  expect(await refs()).toEqual([
    [main, tip],
    [branch, first],
  ]);
  expect((await api.post(at('pushes'), { updates: move(null, first, branch) })).status).toBe(201);
  expect((await api.post(at('pushes'), { updates: move(null, first, branch) })).json).toMatchObject({
    detail: `${branch} is not there meanwhile: fetch, and push again.`,
  });
});

test('the same request takes effect once', async () => {
  const headers = { 'idempotency-key': 'push-the-first' };
  const answer = await send(first, null, { headers: {} });
  expect(answer.status).toBe(201);
  const again = { updates: move(null, first) };
  const deleted = await api.post(at('pushes'), again, { headers });
  expect(deleted.status).toBe(201);
  expect((await api.post(at('pushes'), again, { headers })).json).toEqual(deleted.json);
  expect(await pushes()).toHaveLength(2);
});

test('a pack that needs objects which are not in it, is broken or was never sent, is refused and moves nothing', async () => {
  const lines = Array.from({ length: 500 }, (_, line) => `line ${line}\n`).join('');
  const before = own.commit({ 'long.txt': lines });
  const after = own.commit({ 'long.txt': `${lines}one more\n` });
  // A delta against what only the commit before has.
  const thin = packOf(`${after}\n^${before}`, '--thin');
  const whole = packOf(after);
  const cut = Buffer.concat([whole.subarray(0, -21), whole.subarray(-20)]);
  for (const [pack, why] of [
    [thin, 'is a delta against what is not in the pack'],
    [cut, 'is not whole: its checksum is another'],
    [Buffer.from('no pack at all'), 'is none'],
  ] as const) {
    await upload(pack);
    const answer = await api.post(at('pushes'), { updates: move(after), pack: hashOf(pack) });
    expect(answer).toMatchObject({
      status: 422,
      json: { code: 'git-pack-invalid', detail: expect.stringContaining(why) },
    });
  }
  const missing = await api.post(at('pushes'), { updates: move(after), pack: 'e'.repeat(64) });
  expect(missing).toMatchObject({ status: 422, json: { code: 'content-missing' } });
  expect([await refs(), await pushes()]).toEqual([[], []]);
  expect(await api.get(at(`packs/${hashOf(thin)}`))).toMatchObject({ status: 404 });
});

test('a pack over the bound is refused before it comes, and so is one without a length', async () => {
  const large = await upload(Buffer.from('PACK'), { headers: { 'content-length': String(maxPackBytes + 1) } });
  expect(large).toMatchObject({ status: 413, json: { code: 'content-too-large', maxBytes: maxPackBytes } });
  const unsaid = await upload(Buffer.from('PACK'), { headers: { 'transfer-encoding': 'chunked' } });
  expect(unsaid).toMatchObject({ status: 400, json: { detail: expect.stringContaining('Content-Length') } });
  expect(await stored()).toEqual([]);
});

test('a token that may not push, or of another project, stores and moves nothing', async () => {
  await api.create(shared.replace('name: tides', 'name: other'));
  const pack = packOf(first);
  for (const token of [await api.token('read'), await api.token('mail', 'tides'), await api.token('admin', 'other')]) {
    expect(await upload(pack, { token })).toMatchObject({ status: 403, json: { code: 'forbidden' } });
    const answer = await api.post(at('pushes'), { updates: move(first) }, { token });
    expect(answer).toMatchObject({ status: 403, json: { code: 'forbidden' } });
  }
  expect([await refs(), await pushes(), await stored()]).toEqual([[], [], []]);
});

test('nothing is pushed where nothing is shared, where the project has ended, or under a name that Git does not take', async () => {
  await api.create();
  const pack = packOf(first);
  for (const answer of [
    await upload(pack, {}, 'team'),
    await api.post(at('pushes', 'team'), { updates: move(first) }),
  ]) {
    expect(answer).toMatchObject({ status: 404, json: { code: 'git-not-shared' } });
  }
  for (const ref of ['main', 'refs/notes/x', 'refs/heads/../x', 'refs/heads/-x', 'refs/heads/HEAD', 'HEAD']) {
    const answer = await api.post(at('pushes'), { updates: move(first, null, ref) });
    expect(answer).toMatchObject({ status: 400, json: { detail: expect.stringContaining('such as refs/heads/main') } });
  }
  for (const updates of [move(first, first), [...move(first), ...move(first)]]) {
    expect((await api.post(at('pushes'), { updates })).json).toMatchObject({ code: 'git-ref-refused' });
  }
  await submit(api, 'tides', 'ada', '# Report\n');
  await api.post('/api/projects/tides/approve', {});
  for (const answer of [await upload(pack), await api.post(at('pushes'), { updates: move(first) })]) {
    expect(answer).toMatchObject({ status: 409, json: { code: 'project-closed' } });
  }
  expect([await refs(), await stored()]).toEqual([[], expect.not.arrayContaining([hashOf(pack)])]);
});
