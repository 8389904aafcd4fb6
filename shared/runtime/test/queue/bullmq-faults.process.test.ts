import { type ChildProcess, spawn } from 'node:child_process';
import { randomUUID } from 'node:crypto';
import { once } from 'node:events';
import { type AddressInfo, connect, createServer, type Socket } from 'node:net';
import { fileURLToPath } from 'node:url';
import { afterAll, afterEach, beforeAll, beforeEach, describe, expect, jest, test } from '@jest/globals';
import { Queue } from 'bullmq';
import { Redis } from 'ioredis';
import { silentLogger } from '@suzumio/runtime/observability/logger';
import { createBullMqTransport } from '@suzumio/runtime/queue/bullmq-transport';
import { turnJobId } from '@suzumio/protocol/turn-job';
import { closeWithinMs, type Transport } from '@suzumio/runtime/queue/transport';
import { withoutTimers } from '../../../../test/support/bounds.js';
import { recordingLogger } from '../../../../test/support/logs.js';
import { eventually } from '../../../../test/support/poll.js';
import { freePort } from '../../../../test/support/free-port.js';
import { startRedis, type TestRedis } from '../../../../test/support/redis.js';
import { gate, noteIn, turnJob } from './jobs.js';

const consumerProcess = fileURLToPath(new URL('./fixtures/consume-turns.mjs', import.meta.url));

let redis: TestRedis;
let keyPrefix: string;
const transports: Transport[] = [];
const processes: ChildProcess[] = [];

function open(redisUrl = redis.url, logger = silentLogger()): Transport {
  const transport = createBullMqTransport({ redisUrl, cell: 'main', logger, keyPrefix });
  transports.push(transport);
  return transport;
}

beforeAll(async () => {
  redis = await startRedis();
});
afterAll(() => redis.stop());
beforeEach(() => {
  keyPrefix = randomUUID();
});
afterEach(async () => {
  jest.restoreAllMocks();
  redis.thaw();
  await Promise.all(transports.splice(0).map((transport) => transport.close()));
  for (const process of processes.splice(0)) process.kill('SIGKILL');
});

describe('Redis was never there', () => {
  let transport: Transport;
  beforeEach(async () => {
    transport = open(`redis://127.0.0.1:${await freePort()}`);
  });

  test('wakes and hints return at once and harm nobody', async () => {
    transport.consumeWakes(() => Promise.resolve());
    transport.onHint(() => undefined);
    const commands = jest.spyOn(Redis.prototype, 'publish');
    const jobs = jest.spyOn(Queue.prototype, 'add');
    for (let n = 0; n < 1_000; n += 1) {
      transport.wake(`project-${n}`);
      transport.hint({ project: 'newsroom', seq: n });
    }
    expect(await transport.healthy()).toBe(false);
    // Each was given up, and none waits for Redis to come.
    expect([commands.mock.calls, jobs.mock.calls]).toEqual([[], []]);
  });

  test('whoever waits for an answer is refused soon', async () => {
    const refused = { code: 'server-unreachable' };
    // What is sent waits for its answer so long.
    const answerMs = 2_000;
    await withoutTimers(answerMs, async () => {
      await expect(transport.addTurnJob(turnJob(1))).rejects.toMatchObject(refused);
      await expect(transport.liveTurnJobs([turnJob(1)])).rejects.toMatchObject(refused);
      await expect(transport.turnJobs()).rejects.toMatchObject(refused);
      await expect(transport.takePlaces(['newsroom/ada'])).rejects.toMatchObject(refused);
      await expect(transport.heldPlaces(0)).rejects.toMatchObject(refused);
      await expect(transport.announce({ worker: 'one', slots: 1 })).rejects.toMatchObject(refused);
    });
  });

  test('closing waits for nothing', async () => {
    transport.consumeWakes(() => Promise.resolve());
    const consumer = transport.consumeTurns({ concurrency: 2 }, () => Promise.resolve());
    await consumer.pause();
    await withoutTimers(closeWithinMs, () => transport.close());
  });
});

describe('Redis dies and comes back, empty', () => {
  afterEach(() => redis.restart());

  test('consumers, hints and health come back by themselves, and an outage is logged once', async () => {
    const { logger, lines } = recordingLogger();
    const transport = open(redis.url, logger);
    let recoveries = 0;
    transport.onRecovered(() => (recoveries += 1));
    const woken: string[] = [];
    const turns: string[] = [];
    const heard: number[] = [];
    transport.consumeWakes(noteIn(woken, (project) => project));
    transport.consumeTurns(
      { concurrency: 1 },
      noteIn(turns, (job) => job.turn),
    );
    transport.onHint(({ seq }) => heard.push(seq));
    await transport.addTurnJob(turnJob(1));
    await eventually('a job before the outage', () => turns.length === 1);

    // By itself, BullMQ takes no job for 15 s.
    await withoutTimers(15_000, async () => {
      await redis.kill();
      await eventually('the outage is noticed', async () => !(await transport.healthy()));
      transport.wake('lost');
      await expect(transport.addTurnJob(turnJob(2))).rejects.toMatchObject({ code: 'server-unreachable' });
      await redis.restart();

      await eventually('the return is announced', () => recoveries === 1);
      await transport.addTurnJob(turnJob(3));
      await eventually('a turn job is taken again', () => turns.includes(turnJob(3).turn));
      await eventually('wakes are taken again', () => {
        transport.wake('newsroom');
        return woken.includes('newsroom');
      });
      await eventually('hints are heard again', () => {
        transport.hint({ project: 'newsroom', seq: 7 });
        return heard.includes(7);
      });
    });
    expect(recoveries).toBe(1);
    expect(lines().filter((line) => line['level'] === 'warn')).toHaveLength(1);
  });

  test('a job that ran through the outage ends, and its worker takes the next', async () => {
    const transport = open();
    const first = gate();
    const seen: string[] = [];
    transport.consumeTurns({ concurrency: 1 }, async (job) => {
      seen.push(job.turn);
      if (seen.length === 1) await first.opened;
    });
    await transport.addTurnJob(turnJob(1));
    await eventually('the job runs', () => seen.length === 1);
    await redis.kill();
    first.open();
    await redis.restart();
    await eventually('Redis answers', () => transport.healthy());
    await transport.addTurnJob(turnJob(2));
    await eventually('the next job', () => seen.includes(turnJob(2).turn));
  });

  test('closing while hints are subscribed to again throws nothing', async () => {
    const passage = await openPassage(redis.port);
    try {
      const transport = open(passage.url);
      const heard: number[] = [];
      transport.onHint(({ seq }) => heard.push(seq));
      await eventually('hints are heard', () => {
        transport.hint({ project: 'newsroom', seq: 7 });
        return heard.includes(7);
      });
      const asked = passage.keepFromRedis('subscribe');
      passage.cut();
      await asked;
      // What is thrown with nobody to catch it fails the test.
      await transport.close();
    } finally {
      passage.close();
    }
  });

  test('closing while Redis is away is bounded, also with a handler that never ends', async () => {
    const [idle, busy] = [open(), open()];
    idle.consumeWakes(() => Promise.resolve());
    idle.consumeTurns({ concurrency: 2 }, () => Promise.resolve());
    idle.onHint(() => undefined);
    await eventually('Redis answers', () => idle.healthy());
    await idle.close().catch(() => undefined);

    const running = gate();
    const never = gate();
    busy.consumeTurns({ concurrency: 1 }, async () => {
      running.open();
      await never.opened;
    });
    await busy.addTurnJob(turnJob(1));
    await running.opened;
    const quiet = open();
    quiet.consumeWakes(() => Promise.resolve());
    await eventually('Redis answers', () => quiet.healthy());
    await redis.kill();
    await withoutTimers(closeWithinMs, () => quiet.close());
    // Nothing but the bound ends this.
    await busy.close();
    never.open();
  });
});

/** A way to Redis that can be cut, and can keep a command back. */
async function openPassage(port: number) {
  let kept = { command: '', arrived: (): void => undefined };
  const sockets = new Set<Socket>();
  const server = createServer((near) => {
    const far = connect(port, '127.0.0.1');
    for (const socket of [near, far]) {
      sockets.add(socket);
      socket.on('error', () => undefined);
    }
    near.on('close', () => far.destroy());
    far.on('close', () => near.destroy());
    far.pipe(near);
    near.on('data', (bytes) => {
      if (kept.command && bytes.toString().includes(kept.command)) kept.arrived();
      else far.write(bytes);
    });
  });
  server.listen(0, '127.0.0.1');
  await once(server, 'listening');
  function cut(): void {
    for (const socket of sockets) socket.destroy();
  }
  return {
    url: `redis://127.0.0.1:${(server.address() as AddressInfo).port}`,
    cut,
    /** Resolves when such a command was sent. */
    keepFromRedis: (command: string) => new Promise<void>((arrived) => (kept = { command, arrived })),
    close() {
      cut();
      server.close();
    },
  };
}

describe('Redis does not answer', () => {
  test('wakes return, callers are refused, closing is bounded, and nothing is left hanging', async () => {
    const transport = open();
    transport.consumeWakes(() => Promise.resolve());
    await eventually('Redis answers', () => transport.healthy());
    redis.freeze();
    transport.wake('newsroom');
    expect(await transport.healthy()).toBe(false);
    await expect(transport.addTurnJob(turnJob(1))).rejects.toMatchObject({ code: 'server-unreachable' });
    await transport.close();
  });
});

describe('Redis is emptied', () => {
  test('consumers go on, idle or in the middle of a job', async () => {
    const transport = open();
    const first = gate();
    const woken: string[] = [];
    const turns: string[] = [];
    transport.consumeWakes(noteIn(woken, (project) => project));
    transport.consumeTurns({ concurrency: 1 }, async (job) => {
      turns.push(job.turn);
      if (turns.length === 1) await first.opened;
    });
    await transport.addTurnJob(turnJob(1));
    await eventually('the job runs', () => turns.length === 1);
    const admin = new Redis(redis.url);
    await admin.flushall();
    await admin.quit();
    expect((await transport.liveTurnJobs([turnJob(1)])).size).toBe(0);
    await transport.addTurnJob(turnJob(2));
    first.open();
    await eventually('the next job', () => turns.includes(turnJob(2).turn));
    await eventually('a wake', () => {
      transport.wake('newsroom');
      return woken.length > 0;
    });
  });
});

describe('several processes', () => {
  test('two schedulers never have the same project at once, and miss none', async () => {
    const [one, two] = [open(), open()];
    const projects = Array.from({ length: 12 }, (_, n) => `project-${n}`);
    const atOnce = new Map<string, number>();
    const runs = new Map<string, number>();
    let most = 0;
    const handler = async (project: string) => {
      atOnce.set(project, (atOnce.get(project) ?? 0) + 1);
      runs.set(project, (runs.get(project) ?? 0) + 1);
      most = Math.max(most, atOnce.get(project) ?? 0);
      await new Promise((resolve) => setTimeout(resolve, 3));
      atOnce.set(project, (atOnce.get(project) ?? 0) - 1);
    };
    one.consumeWakes(handler);
    two.consumeWakes(handler);
    await eventually('Redis answers', async () => (await one.healthy()) && (await two.healthy()));
    for (let round = 0; round < 20; round += 1) {
      for (const project of projects) (round % 2 === 0 ? one : two).wake(project);
      await new Promise((resolve) => setTimeout(resolve, 2));
    }
    await eventually('every project woke', () => projects.every((project) => (runs.get(project) ?? 0) >= 1));
    await eventually('all is quiet', async () => {
      const total = [...runs.values()].reduce((sum, count) => sum + count, 0);
      await new Promise((resolve) => setTimeout(resolve, 100));
      return total === [...runs.values()].reduce((sum, count) => sum + count, 0);
    });
    expect(most).toBe(1);
  });

  test('jobs of several cells share the turn queue, wakes and hints do not', async () => {
    const other = createBullMqTransport({ redisUrl: redis.url, cell: 'other', logger: silentLogger(), keyPrefix });
    transports.push(other);
    const main = open();
    const seen: string[] = [];
    main.consumeWakes(noteIn(seen, (project) => `wake ${project}`));
    main.consumeTurns(
      { concurrency: 1 },
      noteIn(seen, (job) => `turn of ${job.cell}`),
    );
    await eventually('Redis answers', async () => (await main.healthy()) && (await other.healthy()));
    other.wake('newsroom');
    await other.addTurnJob(turnJob(1, { cell: 'other' }));
    main.wake('mine');
    await eventually('both that are for it', () => seen.length === 2);
    expect(seen.toSorted()).toEqual(['turn of other', 'wake mine']);
  });

  test('the job of a worker that was killed is delivered to another', async () => {
    const transport = open();
    const worker = spawn(process.execPath, [consumerProcess, redis.url, keyPrefix], {
      stdio: ['ignore', 'pipe', 'inherit'],
    });
    processes.push(worker);
    await transport.addTurnJob(turnJob(1));
    await once(worker.stdout, 'data');
    const exited = once(worker, 'exit');
    worker.kill('SIGKILL');
    await exited;
    expect(await transport.liveTurnJobs([turnJob(1)])).toEqual(new Set([turnJobId(turnJob(1))]));
    const seen: string[] = [];
    transport.consumeTurns(
      { concurrency: 1 },
      noteIn(seen, (job) => job.turn),
    );
    await eventually('another worker gets it', () => seen.length === 1);
    expect(seen).toEqual([turnJob(1).turn]);
  });

  test('jobs that nobody understands are dropped and hurt no others', async () => {
    const transport = open();
    const seen: string[] = [];
    transport.consumeTurns(
      { concurrency: 1 },
      noteIn(seen, (job) => job.turn),
    );
    const foreign = { ...turnJob(1), cell: '../other' };
    await transport.addTurnJob(foreign);
    await transport.addTurnJob(turnJob(2));
    await eventually('the good one', () => seen.length === 1);
    expect(seen).toEqual([turnJob(2).turn]);
    await eventually('the bad one is gone', async () => (await transport.liveTurnJobs([foreign])).size === 0);
  });
});
