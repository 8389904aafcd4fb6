import { afterEach, beforeEach, expect, test } from '@jest/globals';
import { askForDiff } from '@suzumio/store/content/repository-diffs';
import { ContentStore } from '@suzumio/store/content/content-store';
import { type Answer, type ToolhostBench, toolhostBench } from './toolhost-client.js';

const yaml = `
name: lab
task: Mend it.
git: { shared: true }
backend: { runner: { mode: mock } }
agents:
  dev: { role: developer, prompt: Mend. }
`;
const project = 'lab';
const comparison = { from: null, to: '1'.repeat(40), common: false };
const claim = 'f'.repeat(32);
const made = {
  base: null,
  head: '1'.repeat(40),
  commits: [],
  ahead: 1,
  behind: 0,
  files: { added: 1, changed: 0, removed: 0 },
  diff: 'diff --git a/x b/x\n',
};

let bench: ToolhostBench;
let pack: string;
let diff: number;
beforeEach(async () => {
  bench = await toolhostBench();
  await bench.testing.create(yaml);
  const dev = await bench.begin(project, 'dev');
  pack = await new ContentStore(bench.testing.cell.directory.projectDir(project)).putBytes(Buffer.from('a pack'));
  diff = await bench.testing.write(project, (tx) => {
    const push = tx.insert('git_pushes', {
      actor: 'dev',
      agent_id: 'dev',
      turn_id: dev.turn,
      attempt: 1,
      key: 'the-first',
      pack,
      pack_bytes: 6,
      pack_objects: 1,
      updates_json: '[]',
      created_at_ms: tx.nowMs,
    });
    tx.insert('git_packs', { push_seq: push, sha256: pack });
    const asked = askForDiff(tx, comparison);
    if (asked === 'busy' || !('asked' in asked)) throw new Error('it was not asked for');
    return asked.asked;
  });
});
afterEach(() => bench.close());

const at = (route: string) =>
  `${bench.toolhost.workerUrl}/projects/${project}/repository-diffs/${String(diff)}/${route}`;
const post = (route: string, body: object, token: string | undefined = bench.workerToken): Promise<Answer> =>
  bench.post(at(route), token, { epoch: 1, claim, ...body });
const getPack = (hash: string, by = claim, token = bench.workerToken) =>
  fetch(at(`packs/${hash}?epoch=1&claim=${by}`), { headers: { authorization: `Bearer ${token}` } });
const kept = () => bench.testing.rows<{ made: string | null }>(project, 'SELECT made_json AS made FROM git_diffs');

test('a worker claims a comparison, fetches its packs, and hands in what came of it', async () => {
  const granted = { status: 200, body: { comparison, packs: [{ sha256: pack, sizeBytes: 6 }] } };
  expect(await post('claim', {})).toEqual(granted);
  expect(await post('claim', {})).toEqual(granted);
  expect(await (await getPack(pack)).text()).toBe('a pack');
  for (let time = 0; time < 2; time += 1) expect((await post('end', { outcome: { made } })).status).toBe(204);
  expect(await kept()).toEqual([{ made: JSON.stringify(made) }]);
  expect((await getPack(pack)).status).toBe(409);
});

test('nobody else does', async () => {
  const admin = bench.testing.cell.directory.adminToken();
  for (const token of [admin, 'nonsense']) {
    for (const route of ['claim', 'end']) {
      expect((await post(route, { outcome: { made } }, token)).status).toBe(401);
    }
    expect((await getPack(pack, claim, token)).status).toBe(401);
  }
  expect((await getPack(pack)).status).toBe(409);
  await post('claim', {});
  const other = 'e'.repeat(32);
  expect((await getPack(pack, other)).status).toBe(409);
  expect((await post('claim', { claim: other })).body).toMatchObject({ code: 'claim-refused' });
  expect((await post('end', { claim: other, outcome: { made } })).body).toMatchObject({ code: 'claim-refused' });
  expect((await post('end', { epoch: 2, outcome: { made } })).body).toMatchObject({ code: 'claim-refused' });
  // What is stored, and was never pushed, is not handed out.
  const secret = await new ContentStore(bench.testing.cell.directory.projectDir(project)).putBytes(Buffer.from('x'));
  expect((await getPack(secret)).status).toBe(404);
  expect(await kept()).toEqual([{ made: null }]);
});

test.each([
  ['too long', { made: { ...made, diff: 'x'.repeat(1024 * 1024 + 1) } }],
  ['of another code', { refused: { code: 'forbidden', message: 'No.' } }],
  ['of another shape', { made: { ...made, head: 'main' } }],
  ['nothing', {}],
])('an outcome that is %s is not taken', async (_what, outcome) => {
  await post('claim', {});
  expect((await post('end', { outcome })).body).toMatchObject({ code: 'invalid-request' });
  expect(await kept()).toEqual([{ made: null }]);
});
