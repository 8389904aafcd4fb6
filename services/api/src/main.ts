#!/usr/bin/env node
import { z } from 'zod';
import { openControlPlaneOverRedis } from '@suzumio/shared/control-plane/open-control-plane';
import { runService } from '@suzumio/shared/observability/run-service';
import { controlPlaneEnvironment } from '@suzumio/shared/observability/service-environment';
import { loadPolicy, policyFileOf } from '@suzumio/shared/policy/load-policy';
import { createApi } from './api.js';

const listOf = (separator: string) =>
  z.string().transform((text) =>
    text
      .split(separator)
      .map((item) => item.trim())
      .filter((item) => item !== ''),
  );

const schema = controlPlaneEnvironment.extend({
  SUZUMIO_HOST: z.string().default('127.0.0.1'),
  SUZUMIO_PORT: z.coerce.number().int().min(0).max(65_535).default(39_400),
  /** Names, with commas between them, by which it is reached besides those of loopback. */
  SUZUMIO_ALLOWED_HOSTS: listOf(',').default([]),
});

const code = await runService({
  name: 'api',
  schema,
  environment: process.env,
  build: (environment, { logger, metrics, redactor }) => {
    const plane = openControlPlaneOverRedis({
      root: environment.SUZUMIO_ROOT,
      cellId: environment.SUZUMIO_CELL,
      redisUrl: environment.SUZUMIO_REDIS_URL,
      logger,
      metrics,
    });
    redactor.add(plane.cell.directory.adminToken());
    const api = createApi(
      {
        host: environment.SUZUMIO_HOST,
        port: environment.SUZUMIO_PORT,
        transportName: plane.transportName,
        allowedHosts: environment.SUZUMIO_ALLOWED_HOSTS,
        policy: loadPolicy(policyFileOf(environment.SUZUMIO_ROOT, environment.SUZUMIO_POLICY_FILE)),
      },
      { cell: plane.cell, transport: plane.transport, logger, metrics },
    );
    return {
      start: () => api.start(),
      stop: async () => {
        await api.stop();
        await plane.close();
      },
      readiness: async () => ({ ready: true, degraded: (await plane.transport.healthy()) ? [] : ['redis'] }),
    };
  },
});
process.exit(code);
