import { randomUUID } from 'node:crypto';
import { Redis } from 'ioredis';
import { afterAll, beforeAll, describe, expect, test } from '@jest/globals';
import { silentLogger } from '@suzumio/runtime/observability/logger';
import { createBullMqTransport } from '@suzumio/runtime/queue/bullmq-transport';
import { eventually } from '../../../test/support/poll.js';
import { startRedis, type TestRedis } from '../../../test/support/redis.js';
import { counted } from '../../../test/support/counted.js';
import { benches } from './bench.js';
import { schedulerContract } from './scheduler-contract.js';

const noEviction = ['--maxmemory-policy', 'noeviction'];

describe('the scheduler over Redis', () => {
  let redis: TestRedis;
  beforeAll(async () => {
    redis = await startRedis(noEviction);
  });
  afterAll(() => redis.stop());
  const connect = () =>
    createBullMqTransport({ redisUrl: redis.url, cell: 'main', logger: silentLogger(), keyPrefix: randomUUID() });

  schedulerContract(connect);

  const bench = benches(connect);

  test('a job that Redis lost is delivered again once it is five seconds old', async () => {
    const { testing, metrics, jobs, work, scheduler, mail, turns, advance } = await bench();
    const project = await testing.create();
    await mail(project, 'ada');
    await scheduler({ sweepIntervalMs: 10 });
    await eventually('it is on the queue', async () => (await counted(metrics, 'suzumio_turn_jobs_total')) === 1);
    await flush(redis);

    advance(4_999);
    await mail(project, 'ben');
    await eventually('another look was had', async () => (await turns(project)).length === 2);
    expect((await turns(project))[0]).toMatchObject({ agent_id: 'ada', delivery: 1 });

    advance(1);
    await work();
    await eventually('both jobs arrive', () => jobs.length === 2);
    expect((await turns(project)).map(({ agent_id, delivery }) => [agent_id, delivery])).toEqual([
      ['ada', 2],
      ['ben', 1],
    ]);
    expect(await counted(metrics, 'suzumio_turn_jobs_total', { outcome: 'redelivered' })).toBe(1);
  });
});

describe('a Redis that goes away', () => {
  let redis: TestRedis;
  beforeAll(async () => {
    redis = await startRedis(noEviction);
  });
  afterAll(() => redis.stop());
  const bench = benches(() =>
    createBullMqTransport({ redisUrl: redis.url, cell: 'main', logger: silentLogger(), keyPrefix: randomUUID() }),
  );

  test('work goes on when it is back, at once and from nothing', async () => {
    const { testing, transport, jobs, work, scheduler, mail, turns } = await bench();
    const project = await testing.create();
    await eventually('the queue answers', () => transport.healthy());
    // The sweep comes once an hour here: what happens after the outage, the return of Redis has caused.
    await scheduler();
    await work();
    await redis.kill();
    await eventually('the queue is away', async () => !(await transport.healthy()));
    await mail(project, 'ada');
    transport.wake(project);
    await redis.restart();
    await eventually('the job arrives', () => jobs.length === 1);
    expect(await turns(project)).toMatchObject([{ agent_id: 'ada', status: 'queued' }]);
  });

  test('a turn whose job could not be added is remembered as undelivered', async () => {
    const { testing, transport, metrics, logs, jobs, work, scheduler, mail, turns, claim } = await bench();
    const project = await testing.create();
    await scheduler({ leaseMs: 0, leaseCheckMs: 10, sweepIntervalMs: 10 });
    const delist = await testing.cell.catalog.processes.enlist({
      service: 'toolhost',
      cell: 'main',
      transport: 'test',
    });
    await mail(project, 'ada');
    await work();
    transport.wake(project);
    await eventually('the job arrives', () => jobs.length === 1);
    const turn = jobs[0]?.turn ?? '';
    // The end of a lease is judged without Redis, and the next attempt is wanted at once.
    await redis.kill();
    await eventually('the queue is away', async () => !(await transport.healthy()));
    await claim(project, turn, 0);
    await eventually('it could not be delivered', async () => {
      return (await counted(metrics, 'suzumio_turn_jobs_total', { outcome: 'undelivered' })) === 1;
    });
    const delivered = () => testing.rows<{ at: number | null }>(project, 'SELECT delivered_at_ms AS at FROM turns');
    await eventually('that is written down', async () => (await delivered())[0]?.at === null);
    expect(await turns(project)).toMatchObject([{ status: 'queued', attempt: 1, delivery: 2 }]);
    expect(logs().filter(({ level }) => level === 'error')).toEqual([]);
    await redis.restart();
    await eventually('the job arrives', () => jobs.length === 2);
    expect(jobs[1]?.turn).toBe(turn);
    expect(jobs[1]?.delivery).toBeGreaterThan(2);
    await delist();
  });

  test('a stop does not wait for it', async () => {
    const { testing, transport, scheduler, mail } = await bench();
    const project = await testing.create();
    await eventually('the queue answers', () => transport.healthy());
    const running = await scheduler({ sweepIntervalMs: 10 });
    redis.freeze();
    try {
      await mail(project, 'ada');
      // Redis answers nothing before that has ended.
      await running.stop();
    } finally {
      redis.thaw();
    }
  });
});

async function flush(redis: TestRedis): Promise<void> {
  const client = new Redis(redis.url);
  await client.flushall();
  client.disconnect();
}
