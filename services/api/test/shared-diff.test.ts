import { afterEach, beforeEach, expect, test } from '@jest/globals';
import { SuzumioError } from '@suzumio/contract/errors/suzumio-error';
import type { ComparisonOutcome, RepositoryDiff, RepositoryDiffJob } from '@suzumio/protocol/repository-diff';
import { claimDiff, endDiff } from '@suzumio/store/content/repository-diffs';
import { teamYaml } from '../../../test/support/cell.js';
import { type Answer, type TestApi, testApi } from './support/api.js';
import { push } from './support/play.js';

const [first, second, third] = ['aaaaaaaa'.repeat(5), 'bbbbbbbb'.repeat(5), 'cccccccc'.repeat(5)];
const made: RepositoryDiff = {
  base: first,
  head: second,
  commits: [{ id: second, subject: 'Measure.', author: 'Yuki', at: null }],
  ahead: 1,
  behind: 0,
  files: { added: 1, changed: 0, removed: 0 },
  diff: 'diff --git a/x b/x\nnew file mode 100644\n',
};

let api: TestApi;
let jobs: RepositoryDiffJob[];
beforeEach(async () => {
  api = await testApi();
  jobs = [];
  await api.create(teamYaml.replace('name: team', 'name: tides\ngit: { shared: true }\ntools: { toolpacks: [shell] }'));
  const main = 'refs/heads/main';
  await push(api, 'tides', 'ada', [{ ref: 'refs/heads/suzumio/ada', from: null, to: first }]);
  await push(api, 'tides', 'ada', [{ ref: 'refs/heads/suzumio/ada', from: first, to: second }]);
  await api.write('tides', (tx) => tx.insert('git_refs', { name: main, object_id: third, push_seq: 1 }));
});
afterEach(() => api.close());

const get = (query: string, timeout = '20s'): Promise<Answer> =>
  api.get(`/api/projects/tides/git/diff?${query}&timeout=${timeout}`);

const announce = (change: object = {}) =>
  api.transport.announce({ worker: 'worker-1', slots: 4, state: 'ready', ...change });

/** A worker that answers so. */
async function worker(outcome: ComparisonOutcome = { made }): Promise<void> {
  await announce();
  api.transport.consumeRepositoryDiffs(async (job) => {
    jobs.push(job);
    const claim = 'f'.repeat(32);
    await api.write('tides', (tx) => claimDiff(tx, job.diff, claim));
    await api.write('tides', (tx) => endDiff(tx, job.diff, claim, outcome));
  });
}

test('a diff is made by a worker when it is asked for first, and is there from then on', async () => {
  await worker();
  const asked = { from: first, to: second, common: false };
  expect(await get(`from=${first}&to=${second}`)).toMatchObject({ status: 200, json: { ...asked, ...made } });
  for (const query of [`from=${first}&to=suzumio/ada`, 'from=aaaaaaaa&to=refs/heads/suzumio/ada&common=false']) {
    expect(await get(query)).toMatchObject({ status: 200, json: { ...asked, ...made } });
  }
  expect(jobs).toEqual([{ cell: api.cell.id, project: 'tides', epoch: 1, diff: 1 }]);
  await api.transport.depart('worker-1');
  expect(await get(`from=${first}&to=${second}`)).toMatchObject({ status: 200 });
  expect(await get('from=main&to=suzumio/ada&common=true')).toMatchObject({ json: { code: 'git-diff-no-worker' } });
});

test('requests for the same wait for the same, and for another one until that is done', async () => {
  await announce();
  const all = Promise.all([get('from=main&to=suzumio/ada'), get('from=main&to=suzumio/ada'), get('to=main')]);
  await worker();
  expect((await all).map(({ status }) => status)).toEqual([200, 200, 200]);
  expect(jobs).toHaveLength(2);
});

test('nothing is asked while no worker is online, or takes work', async () => {
  const refused = { status: 503, json: { code: 'git-diff-no-worker' } };
  expect(await get('to=main')).toMatchObject(refused);
  await announce({ slots: 0, state: 'not-ready' });
  expect(await get('to=main')).toMatchObject(refused);
  await announce({ cells: ['another'] });
  expect(await get('to=main')).toMatchObject(refused);
  expect(await api.rows('tides', 'SELECT 1 FROM git_diffs')).toEqual([]);
});

test('a wait that is over says what is being made', async () => {
  await announce();
  const pending = { status: 409, json: { code: 'git-diff-pending' } };
  expect(await get('to=main', '10ms')).toMatchObject({ ...pending, text: expect.stringContaining('The commits are') });
  expect(await get('to=suzumio/ada', '10ms')).toMatchObject({
    ...pending,
    text: expect.stringContaining('Two other commits'),
  });
  await worker();
  expect(await get('to=main')).toMatchObject({ status: 200, json: { from: null, to: third } });
  expect(await get('to=suzumio/ada&common=true')).toMatchObject({ status: 200, json: { common: false } });
  expect(jobs).toHaveLength(2);
});

test('what a worker refuses is said, and stands for a while', async () => {
  await worker({ refused: { code: 'git-diff-too-slow', message: 'It took too long.' } });
  for (let time = 0; time < 2; time += 1) {
    expect(await get('to=main')).toMatchObject({
      status: 422,
      json: { code: 'git-diff-too-slow', detail: 'It took too long.' },
    });
  }
  expect(jobs).toHaveLength(1);
});

test('what cannot be put on the queue is not waited for', async () => {
  await announce();
  api.transport.addRepositoryDiff = () => Promise.reject(new SuzumioError('server-unreachable', 'Redis is away.'));
  expect(await get('to=main')).toMatchObject({ status: 503, json: { code: 'server-unreachable' } });
  expect(await api.rows('tides', 'SELECT 1 FROM git_diffs')).toEqual([]);
});

test('names have to be there, and the project has to share', async () => {
  await announce();
  for (const name of ['nothing', 'aaaaaa', "x' OR 1=1", '-–help', '../main']) {
    expect(await get(`to=${encodeURIComponent(name)}`)).toMatchObject({ json: { code: 'git-ref-unknown' } });
  }
  expect(await get('to=')).toMatchObject({ json: { code: 'invalid-request' } });
  await api.create();
  const alone = await api.get(`/api/projects/team/git/diff?to=${first}`);
  expect(alone).toMatchObject({ status: 404, json: { code: 'git-not-shared' } });
});
