import { WaitingError, Worker } from 'bullmq';
import type * as z from 'zod';
import type { Logger } from '../observability/logger.js';
import type { RedisClients } from './redis-clients.js';
import { closeWithinMs, type TurnConsumer } from './transport.js';
import { settledWithin } from './within.js';

/** How often an idle worker polls; bounds the cost of a lost notification. */
const idlePollSeconds = 2;
/** With BullMQ's default, the first job after an outage waits for 15 s. */
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

/** Consumes one queue. A job counts as done even if its handler fails: the store decides what follows. */
export function consumeBullMq<T>(options: BullMqConsumerOptions<T>): TurnConsumer {
  const { queue, schema, handler, logger } = options;
  const connection = options.clients.patient();
  let taking = true;

  const worker = new Worker<unknown>(
    queue,
    async (job, token) => {
      if (!taking) {
        // The worker had just taken the job when it was told to stop.
        await job.moveToWait(token);
        throw new WaitingError();
      }
      const payload = schema.safeParse(job.data);
      if (!payload.success) {
        logger.error({ queue, job: job.id }, 'dropped an invalid job');
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
      // One lost answer to the version check would disable the worker for good.
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
      worker.resume().catch((error: unknown) => logger.error({ err: error, queue }, 'resuming the queue failed'));
    },
    async close() {
      await stopTaking();
      // In this order BullMQ neither waits for a connection that will not come nor retries.
      await settledWithin(connection.retireCopies(), closeWithinMs);
      const closed = Promise.all([worker.close(), connection.retire()]);
      if (!(await settledWithin(closed, closeWithinMs))) logger.warn({ queue }, 'closed while handlers still run');
      connection.disconnect();
    },
  };
}
