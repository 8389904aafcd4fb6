// A turn-worker as a process of its own, whose turns cost nothing.
import { readFile } from 'node:fs/promises';
import { createBullMqTransport } from '@suzumio/runtime/queue/bullmq-transport';
import { runService } from '@suzumio/runtime/process/run-service';
import { serviceEnvironment } from '@suzumio/runtime/process/service-environment';
import { createTurnWorker } from '@suzumio/turn-worker';
import * as z from 'zod';
import { createNoopEngine } from './noop-engine.js';

const schema = serviceEnvironment.extend({
  SUZUMIO_CELL: z.string(),
  SUZUMIO_REDIS_URL: z.string(),
  SUZUMIO_WORKER_DIR: z.string(),
  SUZUMIO_WORKER_SLOTS: z.coerce.number().int(),
  SUZUMIO_WORKER_TOKEN_FILE: z.string(),
  SUZUMIO_TOOLHOST_URL: z.string(),
  SUZUMIO_TOOLHOST_RUNNER_URL: z.string(),
});

process.exitCode = await runService({
  name: 'turn-worker',
  schema,
  environment: process.env,
  build: async (environment, { logger, metrics }) => {
    const cell = environment.SUZUMIO_CELL;
    const transport = createBullMqTransport({ redisUrl: environment.SUZUMIO_REDIS_URL, cell, logger });
    const worker = createTurnWorker(
      {
        workerDir: environment.SUZUMIO_WORKER_DIR,
        slots: environment.SUZUMIO_WORKER_SLOTS,
        cells: {
          [cell]: {
            toolhostUrl: environment.SUZUMIO_TOOLHOST_URL,
            runnerUrl: environment.SUZUMIO_TOOLHOST_RUNNER_URL,
            credential: (await readFile(environment.SUZUMIO_WORKER_TOKEN_FILE, 'utf8')).trim(),
          },
        },
        runnerBundle: new URL('../runner/dist/bundle/runner.mjs', import.meta.url).pathname,
        shimFile: new URL('../runner/dist/shim.mjs', import.meta.url).pathname,
      },
      { transport, logger, metrics, engines: { docker: createNoopEngine() } },
    );
    return {
      start: () => worker.start(),
      async stop() {
        await worker.stop();
        await transport.close();
      },
      readiness: () => Promise.resolve({ ready: worker.ready }),
    };
  },
});
