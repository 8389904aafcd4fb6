#!/usr/bin/env node
import { readFileSync } from 'node:fs';
import { openControlPlaneOverRedis } from '@suzumio/control-plane/open-control-plane';
import { memoryShares } from '@suzumio/protocol/memory-shares';
import { memoryLimitBytes } from '@suzumio/protocol/process-memory';
import { ProxySettings } from '@suzumio/runtime/http/proxy-settings';
import { runService } from '@suzumio/runtime/process/run-service';
import { secretSetting } from '@suzumio/runtime/process/secret-setting';
import { environmentSecrets } from '@suzumio/runtime/process/secret-source';
import { toolhostEnvironment } from './environment.js';
import { createToolhost } from './toolhost.js';

const code = await runService({
  name: 'toolhost',
  schema: toolhostEnvironment,
  environment: process.env,
  build(settings, { logger, metrics, redactor, fail }) {
    const given = secretSetting('SUZUMIO_WORKER_TOKEN', settings, (file) => readFileSync(file, 'utf8'));
    const plane = openControlPlaneOverRedis(settings, {
      logger,
      metrics,
      fail,
      databaseBytes: memoryLimitBytes() * memoryShares.databases,
    });
    redactor.add(plane.cell.directory.cellKey());
    const workerToken = given ?? plane.cell.directory.workerToken();
    redactor.add(workerToken);
    const proxies = new ProxySettings(process.env);
    for (const secret of proxies.secrets) redactor.add(secret);
    const toolhost = createToolhost(
      {
        worker: { host: settings.SUZUMIO_TOOLHOST_HOST, port: settings.SUZUMIO_TOOLHOST_WORKER_PORT },
        runner: { host: settings.SUZUMIO_TOOLHOST_HOST, port: settings.SUZUMIO_TOOLHOST_RUNNER_PORT },
        allowedHosts: settings.SUZUMIO_ALLOWED_HOSTS,
        workerToken,
        transportName: plane.transportName,
        leaseMs: settings.SUZUMIO_LEASE_MS,
        policy: plane.policy,
        ...(settings.SUZUMIO_BUDGET_USD_PER_DAY === undefined
          ? {}
          : { budgetUsdPerDay: settings.SUZUMIO_BUDGET_USD_PER_DAY }),
      },
      {
        cell: plane.cell,
        transport: plane.transport,
        logger,
        metrics,
        secrets: environmentSecrets(process.env, redactor),
        proxies,
      },
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
