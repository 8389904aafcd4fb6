import { randomUUID } from 'node:crypto';
import { afterAll, beforeAll, describe, expect, test } from '@jest/globals';
import { Queue } from 'bullmq';
import { silentLogger } from '@suzumio/runtime/observability/logger';
import { createBullMqTransport } from '@suzumio/runtime/queue/bullmq-transport';
import { queues } from '@suzumio/runtime/queue/jobs';
import { turnJobId } from '@suzumio/protocol/turn-job';
import { eventually } from '../../../../test/support/poll.js';
import { startRedis, type TestRedis } from '../../../../test/support/redis.js';
import { noteIn, turnJob } from './jobs.js';
import { transportContract } from './transport-contract.js';

describe('the BullMQ transport', () => {
  let redis: TestRedis;
  beforeAll(async () => {
    redis = await startRedis(['--maxmemory-policy', 'noeviction']);
  });
  afterAll(() => redis.stop());

  transportContract(() =>
    createBullMqTransport({ redisUrl: redis.url, cell: 'main', logger: silentLogger(), keyPrefix: randomUUID() }),
  );

  test('jobs of an earlier version, which had the priority of their mail, are taken before all that come later', async () => {
    const keyPrefix = randomUUID();
    const earlier = new Queue(queues.turns.name, {
      connection: { url: redis.url, maxRetriesPerRequest: 1 },
      prefix: `{${keyPrefix}}`,
    });
    const transport = createBullMqTransport({ redisUrl: redis.url, cell: 'main', logger: silentLogger(), keyPrefix });
    try {
      for (const [n, priority] of [4, 2, 3, 1].entries()) {
        const job = turnJob(n);
        await earlier.add('turn', job, { jobId: turnJobId(job), priority });
      }
      for (const n of [4, 5]) await transport.addTurnJob(turnJob(n));
      const seen: number[] = [];
      transport.consumeTurns(
        { concurrency: 1 },
        noteIn(seen, (job) => Number(job.turn.slice(5))),
      );
      await eventually('all jobs arrive', () => seen.length === 6);
      expect(seen).toEqual([3, 1, 2, 0, 4, 5]);
    } finally {
      await transport.close();
      await earlier.close();
    }
  });
});
