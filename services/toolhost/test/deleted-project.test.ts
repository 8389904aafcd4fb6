import { afterEach, beforeEach, describe, expect, test } from '@jest/globals';
import { type Begun, type ToolhostBench, toolhostBench } from './toolhost-client.js';

let bench: ToolhostBench;
let project: string;
beforeEach(async () => {
  bench = await toolhostBench();
  project = await bench.testing.create();
});
afterEach(() => bench.close());

const remove = () => bench.testing.cell.deleteProject(project, { actor: 'test' });
const upload = ({ answer }: Begun) =>
  bench.put(`${bench.toolhost.runnerUrl}/content/${'a'.repeat(64)}`, answer.toolToken, Buffer.from('x'));

describe('a turn of a project that was deleted', () => {
  test('is over for its worker and its runner alike', async () => {
    const begun = await bench.begin(project, 'ada');
    const queued = await bench.queueTurn(project, 'ben');
    await remove();
    const unknown = { status: 404, body: { code: 'project-unknown' } };
    expect(await begun.report('heartbeat')).toMatchObject(unknown);
    expect(await begun.report('complete', { output: { text: 'Done.' } })).toMatchObject(unknown);
    expect(await begun.tool('artifacts.list', {})).toMatchObject(unknown);
    expect(await upload(begun)).toMatchObject(unknown);
    expect(await bench.claim(project, queued)).toMatchObject(unknown);
  });

  test('means nothing to the next project of its name', async () => {
    const begun = await bench.begin(project, 'ada');
    await remove();
    await bench.testing.create();
    expect(await begun.report('heartbeat')).toMatchObject({ status: 401, body: { code: 'token-rejected' } });
    expect(await begun.tool('artifacts.list', {})).toMatchObject({ status: 401, body: { code: 'token-rejected' } });
    expect(await upload(begun)).toMatchObject({ status: 401, body: { code: 'token-rejected' } });
    expect(await bench.claim(project, begun.turn)).toMatchObject({ status: 404, body: { code: 'turn-unknown' } });
    const next = await bench.begin(project, 'ada');
    expect([begun.answer.epoch, next.answer.epoch]).toEqual([1, 2]);
  });
});

describe('a worker that asks what was deleted', () => {
  const ask = (token: string | undefined, projects: unknown) =>
    bench.post(`${bench.toolhost.workerUrl}/projects/gone`, token, { projects });

  test('is told of what was, as soon as it is begun, and of nothing else', async () => {
    const other = { project: 'never-heard-of', epoch: 1 };
    const one = { project, epoch: 1 };
    const two = { project, epoch: 2 };
    const gone = async () => (await ask(bench.workerToken, [one, two, other])).body['projects'];
    expect(await gone()).toEqual([]);
    const seen: unknown[] = [];
    const onStep = async () => void seen.push(await gone());
    await bench.testing.cell.deleteProject(project, { actor: 'test', onStep });
    expect(seen).toEqual([[one], [one], [one], [one]]);
    await bench.testing.create();
    expect(await gone()).toEqual([one]);
  });

  test('needs its credential', async () => {
    const admin = bench.testing.cell.directory.adminToken();
    expect(await ask(undefined, [])).toMatchObject({ status: 401, body: { code: 'unauthenticated' } });
    expect(await ask(admin, [])).toMatchObject({ status: 401, body: { code: 'token-rejected' } });
  });

  test.each([[[{ project: '../x', epoch: 1 }]], [[{ project: 'team', epoch: 0 }]], ['team']])(
    'and asks of %j is refused',
    async (projects) => {
      expect(await ask(bench.workerToken, projects)).toMatchObject({ status: 400 });
    },
  );
});
