#!/usr/bin/env node
import { readFileSync } from 'node:fs';
import { openControlPlaneOverRedis } from '@suzumio/control-plane/open-control-plane';
import { runService } from '@suzumio/runtime/process/run-service';
import { secretSetting } from '@suzumio/runtime/process/secret-setting';
import { createApi } from './api.js';
import { accessOf, apiEnvironment } from './environment.js';

const code = await runService({
  name: 'api',
  schema: apiEnvironment,
  environment: process.env,
  build: (environment, { logger, metrics, redactor, fail }) => {
    const given = secretSetting('SUZUMIO_ADMIN_TOKEN', environment, (file) => readFileSync(file, 'utf8'));
    const plane = openControlPlaneOverRedis(environment, { logger, metrics, fail });
    const adminToken = given ?? plane.cell.directory.adminToken();
    redactor.add(adminToken);
    const api = createApi(
      {
        host: environment.SUZUMIO_HOST,
        port: environment.SUZUMIO_PORT,
        transportName: plane.transportName,
        ...accessOf(environment),
        adminToken,
        budgetUsdPerDay: environment.SUZUMIO_BUDGET_USD_PER_DAY,
        policy: plane.policy,
        toolhostUrls: () => environment.SUZUMIO_TOOLHOST_URLS,
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
