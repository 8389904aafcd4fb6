import { randomUUID } from 'node:crypto';
import { afterAll, beforeAll, describe, expect, test } from '@jest/globals';
import { GenericContainer, type StartedTestContainer, Wait } from 'testcontainers';
import { silentLogger } from '@suzumio/runtime/observability/logger';
import { createBullMqTransport } from '@suzumio/runtime/queue/bullmq-transport';
import { checkRedis } from '@suzumio/runtime/queue/check-redis';
import { transportContract } from './transport-contract.js';

/** Built by `npm run images`; `npm test` sees to it. */
const image = 'suzumio-test-redis:dev';

describe('the BullMQ transport with a Redis in a container', () => {
  let container: StartedTestContainer;
  let redisUrl: string;

  beforeAll(async () => {
    container = await new GenericContainer(image)
      .withExposedPorts(6379)
      // Not the port check: it runs a shell inside, and the image may have none.
      .withWaitStrategy(Wait.forLogMessage(/Ready to accept connections/))
      .withStartupTimeout(30_000)
      .start();
    redisUrl = `redis://${container.getHost()}:${container.getMappedPort(6379)}`;
  });
  afterAll(() => container.stop());

  test('it is a Redis that can carry our queues', async () => {
    expect(await checkRedis(redisUrl)).toMatchObject({ reachable: true, problems: [] });
  });

  transportContract(() =>
    createBullMqTransport({ redisUrl, cell: 'main', logger: silentLogger(), keyPrefix: randomUUID() }),
  );
});
