#!/usr/bin/env node
import * as z from 'zod';
import { openControlPlaneOverRedis } from '@suzumio/control-plane/open-control-plane';
import { runService } from '@suzumio/runtime/process/run-service';
import { controlPlaneEnvironment } from '@suzumio/runtime/process/service-environment';
import { Scheduler } from './scheduler.js';

const environment = controlPlaneEnvironment.extend({
  /** The interval of sweeps, in milliseconds. */
  SUZUMIO_SWEEP_MS: z.coerce.number().int().min(10).max(60_000).default(2_000),
  SUZUMIO_LEASE_MS: z.coerce.number().int().min(3_000).max(600_000).default(15_000),
});

const code = await runService({
  name: 'scheduler',
  schema: environment,
  environment: process.env,
  build(settings, { logger, metrics, fail }) {
    const plane = openControlPlaneOverRedis(settings, { logger, metrics, fail });
    const scheduler = new Scheduler(
      {
        transportName: plane.transportName,
        sweepIntervalMs: settings.SUZUMIO_SWEEP_MS,
        leaseMs: settings.SUZUMIO_LEASE_MS,
      },
      { cell: plane.cell, transport: plane.transport, logger, metrics },
    );
    return {
      start: () => scheduler.start(),
      async stop() {
        await scheduler.stop();
        await plane.close();
      },
      readiness: async () => ({ ready: true, degraded: (await plane.transport.healthy()) ? [] : ['redis'] }),
    };
  },
});
process.exit(code);
