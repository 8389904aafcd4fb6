import { WaitingError, Worker } from 'bullmq';
import type { z } from 'zod';
import type { Logger } from '../observability/logger.js';
import type { RedisClients } from './redis-clients.js';
import { closeWithinMs, type TurnConsumer } from './transport.js';
import { settledWithin } from './within.js';

/** How long an idle worker waits before it looks by itself; bounds what a lost notice costs. */
const idlePollSeconds = 2;
/** BullMQ's default lets the first job after Redis came back wait for 15 s. */
const runRetryDelayMs = 500;

export interface BullMqConsumerOptions<T> {
  queue: string;
  prefix: string;
  schema: z.ZodType<T>;
  lockDurationMs: number;
  concurrency: number;
  handler: (payload: T) => Promise<void>;
  clients: RedisClients;
  logger: Logger;
}

/** Takes jobs of one queue. A job is done even where its handler fails: the store decides what follows. */
export function consumeBullMq<T>(options: BullMqConsumerOptions<T>): TurnConsumer {
  const { queue, schema, handler, logger } = options;
  const connection = options.clients.patient();
  let taking = true;

  const worker = new Worker<unknown>(
    queue,
    async (job, token) => {
      if (!taking) {
        // The worker was already about to take it when it was told to stop.
        await job.moveToWait(token);
        throw new WaitingError();
      }
      const payload = schema.safeParse(job.data);
      if (!payload.success) {
        logger.error({ queue, job: job.id }, 'a job that nobody understands was dropped');
        return;
      }
      try {
        await handler(payload.data);
      } catch (error) {
        logger.error({ err: error, queue, job: job.id }, 'a job handler failed');
      }
    },
    {
      connection: connection.client,
      prefix: options.prefix,
      concurrency: options.concurrency,
      lockDuration: options.lockDurationMs,
      stalledInterval: options.lockDurationMs,
      runRetryDelay: runRetryDelayMs,
      drainDelay: idlePollSeconds,
      // One lost answer to the version check at start would disable the worker for good.
      skipVersionCheck: true,
    },
  );
  worker.on('error', (error) => logger.debug({ err: error, queue }, 'the queue reports an error'));

  async function stopTaking(): Promise<void> {
    taking = false;
    await worker.pause(true);
  }

  return {
    async pause() {
      await stopTaking();
      await connection.interruptCopies();
    },
    resume() {
      taking = true;
      worker.resume().catch((error: unknown) => logger.error({ err: error, queue }, 'cannot take jobs again'));
    },
    async close() {
      await stopTaking();
      // In this order BullMQ never waits for a connection that will not come, nor tries again what failed.
      await settledWithin(connection.retireCopies(), closeWithinMs);
      const closed = Promise.all([worker.close(), connection.retire()]);
      if (!(await settledWithin(closed, closeWithinMs))) logger.warn({ queue }, 'closed while handlers still run');
      connection.disconnect();
    },
  };
}
