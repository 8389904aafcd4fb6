import { fork } from 'node:child_process';
import { once } from 'node:events';
import { fileURLToPath } from 'node:url';
import { Queue, Worker } from 'bullmq';
import { clockMs } from './marks.js';

export const floorQueues = { out: 'floor-out', back: 'floor-back' } as const;

export interface FloorJob {
  token: number;
  left: number;
}

/**
 * What the queue alone costs: a job is added, another process takes it and adds a second job, which is taken here. So
 * many jobs pass Redis for each of our turns, too: a wake and a turn job.
 */
export interface Floor {
  /** From the first job's adding to the second one's arrival, in milliseconds. */
  hop(): Promise<number>;
  /** `tokens` jobs go round `hops` times each, all at once; returns rounds a second. */
  burst(tokens: number, hops: number): Promise<number>;
  stop(): Promise<void>;
}

export async function startFloor(redisPort: number, concurrency: number): Promise<Floor> {
  const connection = { host: '127.0.0.1', port: redisPort, maxRetriesPerRequest: null };
  const relay = fork(fileURLToPath(new URL('floor-relay.ts', import.meta.url)), [
    String(redisPort),
    String(concurrency),
  ]);
  const out = new Queue<FloorJob>(floorQueues.out, { connection });
  let arrived: (job: FloorJob) => Promise<void> = () => Promise.resolve();
  const back = new Worker<FloorJob>(floorQueues.back, ({ data }) => arrived(data), { connection, concurrency });
  const add = async (job: FloorJob) => {
    await out.add('out', job, { removeOnComplete: true });
  };
  await Promise.all([once(relay, 'message'), out.waitUntilReady(), back.waitUntilReady()]);
  return {
    async hop() {
      const arrivedAt = new Promise<number>((resolve) => {
        arrived = () => {
          resolve(clockMs());
          return Promise.resolve();
        };
      });
      const begunAt = clockMs();
      await add({ token: 0, left: 0 });
      return (await arrivedAt) - begunAt;
    },
    async burst(tokens, hops) {
      const done = new Promise<void>((resolve, reject) => {
        let running = tokens;
        arrived = async ({ token, left }) => {
          if (left > 1) await add({ token, left: left - 1 }).catch(reject);
          else if (--running === 0) resolve();
        };
      });
      const begunAt = clockMs();
      for (let token = 0; token < tokens; token += 1) await add({ token, left: hops });
      await done;
      return (tokens * hops * 1000) / (clockMs() - begunAt);
    },
    async stop() {
      await Promise.all([back.close(), out.close()]);
      const ended = once(relay, 'exit');
      relay.kill('SIGTERM');
      await ended;
    },
  };
}
