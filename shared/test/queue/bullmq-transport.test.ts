import { randomUUID } from 'node:crypto';
import { afterAll, beforeAll, describe } from '@jest/globals';
import { silentLogger } from '@suzumio/shared/observability/logger';
import { createBullMqTransport } from '@suzumio/shared/queue/bullmq-transport';
import { startRedis, type TestRedis } from '../support/redis.js';
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
});
