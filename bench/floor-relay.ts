// The floor's other process: takes a job from one queue and puts it on another.
import { Queue, Worker } from 'bullmq';
import { floorQueues, type FloorJob } from './floor.js';

const [port = '', concurrency = ''] = process.argv.slice(2);
const connection = { host: '127.0.0.1', port: Number(port), maxRetriesPerRequest: null };
const back = new Queue<FloorJob>(floorQueues.back, { connection });
const out = new Worker<FloorJob>(
  floorQueues.out,
  async ({ data }) => {
    await back.add('back', data, { removeOnComplete: true });
  },
  { connection, concurrency: Number(concurrency) },
);
await Promise.all([back.waitUntilReady(), out.waitUntilReady()]);
process.send?.('ready');
process.once('SIGTERM', () => {
  Promise.all([out.close(), back.close()]).then(
    () => process.exit(0),
    () => process.exit(1),
  );
});
