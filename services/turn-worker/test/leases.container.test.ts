import { readdir, readFile, stat } from 'node:fs/promises';
import { afterAll, beforeAll, beforeEach, describe, expect, test } from '@jest/globals';
import { agentCommand, baseImage, deriveImage, docker } from './support/images.js';
import { newTurnId } from './support/test-toolhost.js';
import { until } from './support/until.js';
import { World } from './support/world.js';

const forEver = `process.on('SIGTERM', () => {}); setInterval(() => {}, 1000);`;
const atOnce = `import fs from 'node:fs'; fs.writeFileSync('/turn/output.json', JSON.stringify({ text: 'at once' }));`;

let world: World;
let image: Awaited<ReturnType<typeof deriveImage>>;

beforeAll(async () => {
  image = await deriveImage(baseImage, [agentCommand, 'LABEL suzumio.runner=1']);
  world = await World.open({ limits: { heartbeatMs: 200, fenceMarginMs: 60_000 } });
});

beforeEach(() => {
  world.toolhost.intercept = () => undefined;
});

afterAll(async () => {
  await world.close();
  await image.remove();
});

const gone = (id: string) => async () => !(await world.containers()).some((container) => container.id === id);
const idle = () =>
  until(async () => (await readdir(`${world.directory}/w/attempts`)).length === 0, 'the attempts to end');

describe('a claim', () => {
  test('is written down before it is made, for nobody else to read', async () => {
    let looked = false;
    world.toolhost.intercept = (request) => (request.url?.endsWith('/claim') && !looked ? 'cut' : undefined);
    const turn = await world.give({ image: image.name, program: atOnce });
    const directory = `${world.directory}/w/attempts`;
    await until(async () => (await readdir(directory)).some((name) => name.endsWith('.json')), 'a state file');
    const [name = ''] = await readdir(directory);
    expect((await stat(`${directory}/${name}`)).mode & 0o777).toBe(0o600);
    const state: unknown = JSON.parse(await readFile(`${directory}/${name}`, 'utf8'));
    expect(state).toMatchObject({
      claimId: expect.stringMatching(/^[0-9a-f]{32}$/),
      turn: turn.answer.input.turn.id,
    });
    looked = true;
    world.toolhost.turns.delete(turn.answer.input.turn.id);
    await idle();
  });

  test('that gets no answer is repeated with the same id', async () => {
    const instead = [{ status: 503 }, 'cut', { status: 500 }] as const;
    let tries = 0;
    world.toolhost.intercept = (request) => (request.url?.endsWith('/claim') ? instead[tries++] : undefined);
    const ids: string[] = [];
    const turn = await world.give({ image: image.name, program: atOnce });
    await until(async () => {
      for (const name of await readdir(`${world.directory}/w/attempts`)) if (!ids.includes(name)) ids.push(name);
      return turn.claims.length > 0;
    }, 'the claim');
    expect(tries).toBe(4);
    expect(ids).toContain(`${turn.claims[0]?.claimId ?? ''}.json`);
    expect((await world.toolhost.ended(turn.answer.input.turn.id)).completed?.output.text).toBe('at once');
  });

  test('that is refused drops the job', async () => {
    let tries = 0;
    world.toolhost.intercept = (request) => {
      if (!request.url?.endsWith('/claim')) return undefined;
      tries += 1;
      return { status: 409, code: 'claim-refused' };
    };
    const turn = await world.give({ image: image.name, program: atOnce });
    await until(() => tries > 0, 'a claim');
    await idle();
    expect([tries, turn.heartbeats]).toEqual([1, 0]);
  });

  test('is never made for a cell that this worker does not serve', async () => {
    const turn = world.toolhost.add(world.claimOf({ image: image.name, program: atOnce }));
    await world.deliver(turn, 'cell-2');
    await until(
      () => world.lines.some((line) => line['cell'] === 'cell-2' && line['level'] === 'warn'),
      'a line in the log',
    );
    expect(turn.claims).toEqual([]);
  });
});

describe('a lease', () => {
  test('is kept by heartbeats, though it is shorter than the margin', async () => {
    const turn = await world.give({ image: image.name, program: forEver, leaseMs: 20_000 });
    const id = await world.containerOf(turn);
    const before = turn.heartbeats;
    await until(() => turn.heartbeats > before + 5, 'heartbeats', { show: () => turn });
    expect(await gone(id)()).toBe(false);
    turn.cancel = true;
    await until(gone(id), 'the container to be gone');
    await idle();
  });

  test('that is cancelled: the container is gone after the next heartbeat, and nothing is reported', async () => {
    const turn = await world.give({ image: image.name, program: forEver });
    const id = await world.containerOf(turn);
    turn.cancel = true;
    const before = turn.heartbeats;
    await until(gone(id), 'the container to be gone');
    // The first one after that says it.
    expect(turn.heartbeats - before).toBe(1);
    await idle();
    expect([turn.completed, turn.failed]).toEqual([undefined, undefined]);
  });

  test('whose token is worthless is as good as cancelled', async () => {
    const turn = await world.give({ image: image.name, program: forEver });
    const id = await world.containerOf(turn);
    turn.answer = { ...turn.answer, leaseToken: 'another' };
    await until(gone(id), 'the container to be gone');
    await idle();
    expect(turn.failed).toBeUndefined();
  });

  test.each(['hang', 'cut', 503] as const)('that cannot be kept (%s) ends by the clock of the worker', async (how) => {
    const turn = await world.give({ image: image.name, program: forEver, leaseMs: 12_000 });
    const id = await world.containerOf(turn);
    world.toolhost.intercept = () => (how === 503 ? { status: 503 } : how);
    await until(gone(id), 'the container to be gone');
    world.toolhost.intercept = () => undefined;
    await idle();
    expect([turn.completed, turn.failed]).toEqual([undefined, undefined]);
  });

  test('survives a ToolHost that is away for a while, and so does the report', async () => {
    const turn = await world.give({ image: image.name, program: `setTimeout(() => {}, 1500); ${atOnce}` });
    await world.containerOf(turn);
    world.toolhost.intercept = () => 'cut';
    await new Promise((resolve) => setTimeout(resolve, 2_500));
    world.toolhost.intercept = () => undefined;
    const { completed } = await world.toolhost.ended(turn.answer.input.turn.id);
    expect(completed?.output.text).toBe('at once');
  });
});

describe('one attempt of an agent at a time', () => {
  test('a later attempt kills the earlier one and begins after it', async () => {
    const first = await world.give({ image: image.name, program: forEver });
    const id = await world.containerOf(first);
    const second = await world.run({ image: image.name, program: atOnce });
    expect(second.completed?.output.text).toBe('at once');
    await until(gone(id), 'the first container to be gone');
    expect([first.completed, first.failed]).toEqual([undefined, undefined]);
  });

  const create = async (agent: string, place: Record<string, string> = {}) => {
    const labels = {
      'suzumio.cell': world.cell,
      'suzumio.project': 'paper',
      'suzumio.agent': agent,
      'suzumio.turn': newTurnId(),
      'suzumio.worker': 'another',
    };
    const container = await docker.createContainer({
      Image: baseImage,
      Cmd: ['sleep', '60'],
      Labels: { ...labels, ...place },
      HostConfig: { NetworkMode: 'none', Init: true },
    });
    await container.start();
    return container;
  };

  test('leaves what a later attempt runs alone, and ends: its worker stood still while its lease ran out', async () => {
    const later = { 'suzumio.epoch': '1', 'suzumio.turn-number': '1', 'suzumio.attempt': '2' };
    const successor = await create('writer-3', later);
    try {
      const turn = await world.give({ image: image.name, program: atOnce, agent: 'writer-3' });
      await until(() => turn.claims.length > 0, 'the claim');
      await idle();
      expect((await successor.inspect()).State.Running).toBe(true);
      expect([turn.completed, turn.failed]).toEqual([undefined, undefined]);
    } finally {
      await successor.remove({ force: true });
    }
  });

  test("kills and waits for what another worker's attempt of the same agent left", async () => {
    const [left, unrelated] = [await create('writer'), await create('writer-2')];
    try {
      const turn = await world.run({ image: image.name, program: atOnce });
      expect(turn.completed?.output.text).toBe('at once');
      await expect(left.inspect()).rejects.toMatchObject({ statusCode: 404 });
      expect((await unrelated.inspect()).State.Running).toBe(true);
    } finally {
      await unrelated.remove({ force: true });
    }
  });
});
