import { afterEach, beforeEach, expect, test } from '@jest/globals';
import { whyListAnswer } from '@suzumio/contract/operations/agents';
import { type WhyAnswer, whyAnswer } from '@suzumio/contract/model/why';
import { createBullMqTransport } from '@suzumio/runtime/queue/bullmq-transport';
import { postMessage } from '@suzumio/store/mail/post-message';
import { teamYaml } from '../../../test/support/cell.js';
import { freePort } from '../../../test/support/free-port.js';
import { eventually } from '../../../test/support/poll.js';
import { type TestApi, testApi } from './support/api.js';
import { beginTurn, failTurn } from './support/play.js';
import { refusal } from './support/refusal.js';

let api: TestApi;
const leaving: (() => Promise<void>)[] = [];
beforeEach(async () => {
  api = await testApi();
  await api.create();
});
afterEach(async () => {
  for (const leave of leaving.splice(0)) await leave();
  await api.close();
});

async function serve(of: TestApi, ...services: string[]): Promise<void> {
  for (const service of services) {
    leaving.push(await of.cell.catalog.processes.enlist({ service, cell: of.cell.id, transport: 'test' }));
  }
}

async function why(of: TestApi, agent: string): Promise<WhyAnswer> {
  const { status, json } = await of.get(`/api/projects/team/agents/${agent}/why`);
  expect(status).toBe(200);
  return whyAnswer.parse(json);
}

const codes = async (of: TestApi, agent: string) => (await why(of, agent)).reasons.map(({ code }) => code);

const mail = (of: TestApi, agent: string) =>
  of.write('team', (tx) =>
    postMessage(tx, { sender: 'user', recipient: agent, priority: 'P1', body: 'Hello.', actor: 'test' }),
  );

test('the answer names the agent, its state and its mail, and every reason with a command', async () => {
  await serve(api, 'scheduler', 'toolhost');
  await failTurn(api, 'team', 'ada');
  await mail(api, 'ada');
  expect(await why(api, 'ada')).toEqual({
    project: 'team',
    agent: 'ada',
    state: 'failed',
    unread: 1,
    reasons: [
      {
        code: 'agent-failed',
        sentence: 'It failed in turn 1, attempt 1: non-zero-exit: The runner ended with exit code 3.',
        next: 'agents retry team ada',
        request: { operation: 'retryAgent', params: { project: 'team', agent: 'ada' }, asks: [] },
      },
      {
        code: 'worker-missing',
        sentence: 'No worker is connected: turns wait for one.',
        next: 'doctor',
        request: null,
      },
    ],
  });
});

test('what the queue, the catalog and the project know comes together', async () => {
  await mail(api, 'ben');
  expect(await codes(api, 'ben')).toEqual(['scheduler-missing', 'toolhost-missing', 'worker-missing']);
  await serve(api, 'scheduler', 'toolhost');
  await api.transport.announce({ worker: 'w1', slots: 0, state: 'draining' });
  expect(await codes(api, 'ben')).toEqual(['workers-draining']);
  await api.transport.announce({ worker: 'w2', slots: 1, backends: ['docker'], images: [] });
  expect(await codes(api, 'ben')).toEqual(['image-missing']);
  await api.transport.announce({ worker: 'w2', slots: 1, backends: ['docker'], images: ['suzumio-runner:dev'] });
  expect(await codes(api, 'ben')).toEqual(['about-to-start']);
  await beginTurn(api, 'team', 'ben');
  expect(await why(api, 'ben')).toMatchObject({ state: 'running', unread: 0, reasons: [{ code: 'working' }] });
});

test('a queue that cannot be reached is a reason, and no failure', async () => {
  const port = await freePort();
  const cut = await testApi({}, (logger) =>
    createBullMqTransport({ redisUrl: `redis://127.0.0.1:${port}`, cell: 'cut', logger }),
  );
  try {
    await cut.create();
    await serve(cut, 'scheduler', 'toolhost');
    await mail(cut, 'ada');
    await eventually('the queue to be missed', async () => (await codes(cut, 'ada'))[0] === 'queue-away');
  } finally {
    for (const leave of leaving.splice(0)) await leave();
    await cut.close();
  }
});

test('the agents of a project are asked at once, part by part, in the order of its file', async () => {
  await serve(api, 'scheduler', 'toolhost');
  await failTurn(api, 'team', 'ada');
  await mail(api, 'ben');
  const first = whyListAnswer.parse((await api.get('/api/projects/team/why?limit=2')).json);
  expect(first).toEqual({ items: [await why(api, 'ada'), await why(api, 'ben')], next: 'ben' });
  const rest = whyListAnswer.parse((await api.get('/api/projects/team/why?limit=2&after=ben')).json);
  expect(rest).toEqual({ items: [await why(api, 'cat')] });
});

test('whoever may read the project may ask, and nobody else', async () => {
  const path = '/api/projects/team/agents/ada/why';
  await api.create(teamYaml.replace('name: team', 'name: other'));
  expect((await api.get(path, { token: await api.token('read', 'team') })).status).toBe(200);
  expect(refusal(await api.get(path, { token: await api.token('read', 'other') })).code).toBe('forbidden');
  expect(refusal(await api.get('/api/projects/team/agents/dan/why'))).toEqual({
    status: 404,
    code: 'agent-unknown',
    detail: 'There is no agent "dan" here: known are ada, ben, cat',
  });
});
