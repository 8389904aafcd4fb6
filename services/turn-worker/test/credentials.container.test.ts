import { afterEach, expect, test } from '@jest/globals';
import { credential } from './support/test-toolhost.js';
import { until } from './support/until.js';
import { World, type WorldOptions } from './support/world.js';

let world: World | undefined;
afterEach(async () => {
  await world?.close();
  world = undefined;
});

const options: WorldOptions = {
  settings: { policy: { backends: ['process'] } },
  limits: { probeRetryMs: 20, cellCheckMs: 50, claimPatienceMs: 500 },
};

async function open(more: WorldOptions = {}): Promise<World> {
  world = await World.open({ ...options, ...more });
  return world;
}

const presence = async (here: World) => (await here.transport.fleet())[0];
const errors = (here: World) => here.lines.filter(({ level }) => level === 'error');
/** As a ToolHost refuses a credential that was revoked; what an attempt has claimed stays its own. */
const revoke = (here: World) => {
  here.toolhost.intercept = ({ headers }) =>
    headers.authorization === `Bearer ${credential}` ? { status: 401, code: 'token-rejected' } : undefined;
};

test('a worker whose credential was revoked takes no job, says why, and comes back when it is good again', async () => {
  const here = await open();
  revoke(here);
  await until(() => !here.worker.ready, 'the worker to find out');
  await until(async () => (await presence(here))?.problem !== undefined, 'the worker to say so');
  expect(await presence(here)).toMatchObject({
    state: 'not-ready',
    slots: 0,
    problem: 'token-rejected',
    refusedBy: [{ cell: here.cell, code: 'token-rejected' }],
  });
  expect(here.worker.refusedBy).toEqual([{ cell: here.cell, code: 'token-rejected' }]);
  expect(errors(here)).toMatchObject([{ code: 'token-rejected', msg: expect.stringContaining(here.cell) }]);

  const turn = await here.give({ backend: 'process' });
  here.toolhost.intercept = () => undefined;
  const { completed } = await here.toolhost.ended(turn.answer.input.turn.id);
  expect(completed?.output.text).toBe('done');
  expect([here.worker.ready, errors(here).length]).toEqual([true, 1]);
});

test('a worker that has never been known is not ready', async () => {
  const here = await open({ start: false });
  revoke(here);
  await here.worker.start();
  expect(here.worker.ready).toBe(false);
});

test('a claim that is refused for its credential is the last one', async () => {
  const here = await open({ limits: { ...options.limits, cellCheckMs: 600_000 } });
  revoke(here);
  await here.give({ backend: 'process' });
  await until(() => !here.worker.ready, 'the worker to find out');
  expect(await presence(here)).toMatchObject({ slots: 0 });
});

test('what runs when the credential is revoked goes to its end', async () => {
  const here = await open();
  const turn = await here.give({ backend: 'process', steps: [{ wait: 1_000 }, { text: 'to the end' }] });
  await until(() => turn.claims.length > 0, 'the claim');
  revoke(here);
  await until(() => !here.worker.ready, 'the worker to find out');
  expect((await here.toolhost.ended(turn.answer.input.turn.id)).completed?.output.text).toBe('to the end');
});

test('a credential that was replaced is taken up without a restart', async () => {
  let current = 'of-nobody';
  const here = await open({ credentialOf: () => current });
  expect(here.worker.ready).toBe(false);
  current = credential;
  await until(() => here.worker.ready, 'the worker to be ready');
  expect((await here.run({ backend: 'process' })).completed?.output.text).toBe('done');
});

test('a worker of several cells goes on for those that know it, and names them alone', async () => {
  const here = await open({ start: false });
  const cellOf = (value: string) => ({
    toolhostUrl: here.toolhost.toolhostUrl,
    runnerUrl: here.toolhost.runnerUrl,
    credential: value,
  });
  here.worker = here.newWorker({ cells: { [here.cell]: cellOf(credential), 'cell-2': cellOf('of-nobody') } });
  await here.worker.start();
  expect(here.worker.ready).toBe(true);
  await until(async () => (await presence(here))?.cells?.length === 1, 'the worker to name its cells');
  expect(await presence(here)).toMatchObject({
    cells: [here.cell],
    refusedBy: [{ cell: 'cell-2', code: 'unauthenticated' }],
  });
  expect(errors(here)).toMatchObject([{ cell: 'cell-2', code: 'unauthenticated' }]);
  expect((await here.run({ backend: 'process' })).completed?.output.text).toBe('done');
});

test('a claim that is refused for what its turn is says nothing of the credential', async () => {
  const here = await open();
  const ready: boolean[] = [];
  const watch = setInterval(() => ready.push(here.worker.ready), 5);
  let refused = 0;
  here.toolhost.intercept = ({ url }) => {
    if (!url?.endsWith('/claim') || refused > 0) return undefined;
    refused += 1;
    return { status: 403, code: 'policy-denied' };
  };
  await here.give({ backend: 'process', agent: 'refused' });
  await until(() => refused > 0, 'the claim');
  expect((await here.run({ backend: 'process', agent: 'other' })).completed?.output.text).toBe('done');
  clearInterval(watch);
  expect([new Set(ready), errors(here)]).toEqual([new Set([true]), []]);
});

test('a ToolHost that does not answer to the name by which it is called is told as that', async () => {
  const here = await open({ start: false });
  here.toolhost.intercept = () => ({ status: 403, code: 'foreign-host' });
  await here.worker.start();
  expect(here.worker.ready).toBe(false);
  expect(errors(here)).toMatchObject([{ code: 'foreign-host', msg: expect.not.stringContaining('credential') }]);
});

test('a ToolHost that is away says nothing about a credential', async () => {
  const here = await open({ start: false });
  here.toolhost.intercept = () => 'cut';
  await here.worker.start();
  expect(here.worker.ready).toBe(true);
});
