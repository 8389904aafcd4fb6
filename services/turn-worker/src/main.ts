#!/usr/bin/env node
import { readFileSync } from 'node:fs';
import { fileURLToPath } from 'node:url';
import * as z from 'zod';
import { ProxySettings } from '@suzumio/runtime/http/proxy-settings';
import { runService } from '@suzumio/runtime/process/run-service';
import { loadPolicy } from '@suzumio/runtime/disk/load-policy';
import { createBullMqTransport } from '@suzumio/runtime/queue/bullmq-transport';
import { currentCredential, relayOf, workerCells, workerEnvironment } from './environment.js';
import { createTurnWorker } from './turn-worker.js';

const bundle = (file: string) => fileURLToPath(new URL(`../../../runner/dist/${file}`, import.meta.url));

const schema = workerEnvironment.extend({
  /** The bundled runner and shim. @default beside this package */
  SUZUMIO_RUNNER_BUNDLE: z.string().default(bundle('bundle/runner.mjs')),
  SUZUMIO_SHIM_FILE: z.string().default(bundle('shim.mjs')),
});

const code = await runService({
  name: 'turn-worker',
  schema,
  environment: process.env,
  build: (environment, { logger, metrics, redactor }) => {
    const read = (file: string) => readFileSync(file, 'utf8');
    const cells = workerCells(environment, read);
    for (const { credential } of Object.values(cells)) redactor.add(credential);
    for (const secret of new ProxySettings(process.env).secrets) redactor.add(secret);
    const transport = createBullMqTransport({
      redisUrl: environment.SUZUMIO_REDIS_URL,
      cell: environment.SUZUMIO_CELL,
      logger,
    });
    const worker = createTurnWorker(
      {
        workerDir: environment.SUZUMIO_WORKER_DIR,
        shareWorkerDir: environment.SUZUMIO_WORKER_DIR_SHARED,
        slots: environment.SUZUMIO_WORKER_SLOTS,
        cells,
        turnUser: environment.SUZUMIO_TURN_USER,
        door: environment.SUZUMIO_DOOR,
        policy: loadPolicy(environment.SUZUMIO_POLICY_FILE),
        protectedPaths: environment.SUZUMIO_PROTECTED_PATHS,
        relay: relayOf(environment),
        runnerImage: environment.SUZUMIO_RUNNER_IMAGE,
        runnerBundle: environment.SUZUMIO_RUNNER_BUNDLE,
        shimFile: environment.SUZUMIO_SHIM_FILE,
        ...(environment.SUZUMIO_DOCKER_SOCKET === undefined ? {} : { dockerSocket: environment.SUZUMIO_DOCKER_SOCKET }),
      },
      {
        transport,
        logger,
        metrics,
        environment: process.env,
        credentialOf: (cell) => {
          const credential = currentCredential(environment, cell, read);
          if (credential !== undefined) redactor.add(credential);
          return credential;
        },
      },
    );
    return {
      start: () => worker.start(),
      stop: async () => {
        await worker.stop();
        await transport.close();
      },
      readiness: async () => ({
        ready: worker.ready,
        degraded: [
          ...((await transport.healthy()) ? [] : ['redis']),
          ...worker.refusedBy.map(({ cell, code }) => `cell ${cell}: ${code}`),
        ],
      }),
    };
  },
});
process.exit(code);
