import { mkdtemp, rm } from 'node:fs/promises';
import { afterEach, expect, test } from '@jest/globals';
import { hasImage } from '@suzumio/protocol/worker-presence';
import { baseImage, runnerImage } from './support/images.js';
import { until } from './support/until.js';
import { World, type WorldOptions } from './support/world.js';

let world: World | undefined;
afterEach(async () => {
  await world?.close();
  world = undefined;
});

async function open(options: WorldOptions): Promise<World> {
  world = await World.open(options);
  return world;
}

const processes: WorldOptions = { settings: { policy: { backends: ['process'] }, slots: 3 } };

test('a worker tells the fleet what it takes', async () => {
  const here = await open(processes);
  await until(async () => (await here.transport.fleet())[0]?.state === 'ready', 'the worker to be ready');
  expect(await here.transport.fleet()).toMatchObject([
    { slots: 3, state: 'ready', cells: [here.cell], backends: ['process'] },
  ]);
});

test('a worker with containers names the images that its engine has, and no others', async () => {
  const here = await open({});
  const images = async () => (await here.transport.fleet())[0]?.images;
  await until(async () => (await images()) !== undefined, 'the images to be listed');
  const named = (await images()) ?? [];
  expect([baseImage, runnerImage, 'suzumio-no-such-image:dev'].map((image) => hasImage(named, image))).toEqual([
    true,
    true,
    false,
  ]);
});

test('a worker that drains says so while its turns go to their end, and then goes', async () => {
  const here = await open({ ...processes, limits: { shutdownGraceMs: 10_000 } });
  const send = { tool: 'messages.send', input: { recipient: 'user', priority: 'P1', body: 'x' } };
  const turn = await here.give({ backend: 'process', steps: [send, { wait: 1_500 }, { text: 'done' }] });
  await until(() => here.toolhost.toolCalls.length > 0, 'the turn to run');
  const stopped = here.worker.stop();
  const state = async () => (await here.transport.fleet()).map(({ state: said, slots }) => [said, slots]);
  await until(async () => (await state())[0]?.[0] === 'draining', 'the worker to say that it drains');
  expect(await state()).toEqual([['draining', 0]]);
  await stopped;
  expect([turn.failed, turn.completed?.output.text]).toEqual([undefined, 'done']);
  expect(await here.transport.fleet()).toEqual([]);
});

test('a worker whose engine is away says that, and what it lacks', async () => {
  const directory = await mkdtemp('/tmp/suzumio-engine-');
  try {
    const here = await open({ settings: { dockerSocket: `${directory}/docker.sock` } });
    await until(async () => (await here.transport.fleet())[0]?.problem !== undefined, 'the worker to complain');
    expect(await here.transport.fleet()).toMatchObject([
      { slots: 0, state: 'not-ready', problem: 'engine-unreachable' },
    ]);
  } finally {
    await world?.close();
    world = undefined;
    await rm(directory, { recursive: true });
  }
});
