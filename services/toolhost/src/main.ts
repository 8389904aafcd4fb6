#!/usr/bin/env node
import { z } from 'zod';
import { openControlPlaneOverRedis } from '@suzumio/shared/control-plane/open-control-plane';
import { runService } from '@suzumio/shared/observability/run-service';
import { controlPlaneEnvironment } from '@suzumio/shared/observability/service-environment';
import { loadPolicy, policyFileOf } from '@suzumio/shared/policy/load-policy';
import { createToolhost } from './toolhost.js';

const port = z.coerce.number().int().min(0).max(65_535);

const environment = controlPlaneEnvironment.extend({
  /** Where workers reach it. */
  SUZUMIO_TOOLHOST_HOST: z.string().default('127.0.0.1'),
  SUZUMIO_TOOLHOST_WORKER_PORT: port.default(39_410),
  /** Where the calls of runners arrive, forwarded by their worker. */
  SUZUMIO_TOOLHOST_RUNNER_PORT: port.default(39_411),
  SUZUMIO_LEASE_MS: z.coerce.number().int().min(3_000).max(600_000).default(15_000),
});

const code = await runService({
  name: 'toolhost',
  schema: environment,
  environment: process.env,
  build(settings, { logger, metrics, redactor }) {
    const plane = openControlPlaneOverRedis({
      root: settings.SUZUMIO_ROOT,
      cellId: settings.SUZUMIO_CELL,
      redisUrl: settings.SUZUMIO_REDIS_URL,
      logger,
      metrics,
    });
    redactor.add(plane.cell.directory.cellKey());
    redactor.add(plane.cell.directory.workerToken());
    const toolhost = createToolhost(
      {
        worker: { host: settings.SUZUMIO_TOOLHOST_HOST, port: settings.SUZUMIO_TOOLHOST_WORKER_PORT },
        runner: { host: settings.SUZUMIO_TOOLHOST_HOST, port: settings.SUZUMIO_TOOLHOST_RUNNER_PORT },
        transportName: plane.transportName,
        leaseMs: settings.SUZUMIO_LEASE_MS,
        policy: loadPolicy(policyFileOf(settings.SUZUMIO_ROOT, settings.SUZUMIO_POLICY_FILE)),
      },
      { cell: plane.cell, transport: plane.transport, logger, metrics },
    );
    return {
      start: () => toolhost.start(),
      async stop() {
        await toolhost.stop();
        await plane.close();
      },
    };
  },
});
process.exit(code);
