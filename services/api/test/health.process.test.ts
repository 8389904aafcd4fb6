import { afterEach, beforeEach, expect, test } from '@jest/globals';
import { healthAnswer } from '@suzumio/contract/operations/service';
import { createBullMqTransport } from '@suzumio/runtime/queue/bullmq-transport';
import { eventually } from '../../../test/support/poll.js';
import { startRedis, type TestRedis } from '../../../test/support/redis.js';
import { QueueHealth } from '../src/operations/queue-health.js';
import { type TestApi, testApi } from './support/api.js';

let redis: TestRedis;
let api: TestApi;
beforeEach(async () => {
  redis = await startRedis();
  api = await testApi({}, (logger) => createBullMqTransport({ redisUrl: redis.url, cell: 'main', logger }));
});
afterEach(async () => {
  await api.close();
  await redis.stop();
});

async function queue(): Promise<string> {
  const { status, json } = await api.get('/health', { token: null });
  expect(status).toBe(200);
  return healthAnswer.parse(json).queue;
}
const becomes = (state: string) => eventually(`the queue is ${state}`, async () => (await queue()) === state);

test('an API whose Redis goes away answers, and says so until it is back', async () => {
  await becomes('ok');
  await redis.kill();
  await becomes('away');
  await redis.restart();
  await becomes('ok');
  redis.freeze();
  await becomes('away');
  redis.thaw();
  await becomes('ok');
});

test('the queue is asked once in a second, however many ask', async () => {
  let [asked, nowMs] = [0, 5_000];
  const transport = { healthy: () => Promise.resolve((asked += 1) === 1) };
  const health = new QueueHealth(() => nowMs);
  const many = () => Promise.all(Array.from({ length: 50 }, () => health.ask(transport)));
  expect(new Set(await many())).toEqual(new Set(['ok']));
  nowMs += 1_000;
  await many();
  expect(asked).toBe(1);
  nowMs += 1;
  expect(new Set(await many())).toEqual(new Set(['away']));
  expect(asked).toBe(2);
});
