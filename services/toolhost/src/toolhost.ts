import { randomUUID } from 'node:crypto';
import express, { type Router } from 'express';
import { type HttpServer, startHttpServer } from '@suzumio/runtime/http/http-server';
import { refusalLog } from '@suzumio/runtime/http/refusal-log';
import { nanoPerUsd } from '@suzumio/core/budgets/model-cost';
import { notFoundHandler, problemHandler } from '@suzumio/runtime/http/problem-handler';
import { type ListenerNames, refuseForeignRequests } from '@suzumio/runtime/http/request-source';
import type { BodyPace } from '@suzumio/runtime/http/slow-bodies';
import { policyWithGrants } from '@suzumio/store/cell/grants';
import { hostPaths } from '@suzumio/runtime/disk/this-host';
import { defaultPolicy, type Policy } from '@suzumio/core/policy/policy';
import { attemptsRouter } from './attempts-router.js';
import { BodyReader } from './bodies/body-reader.js';
import { RunnerBodies } from './bodies/runner-bodies.js';
import { ClaimWaits } from './claim-waits.js';
import type { ToolhostContext, ToolhostDependencies } from './context.js';
import { handlersRouter } from './handlers-router.js';
import { modelsRouter } from './models-router.js';
import { RefusalPace } from './refusal-pace.js';
import { toolsRouter } from './tools-router.js';

export interface ToolhostConfig {
  /** Where workers reach it. Never reachable from a container. */
  worker: { host: string; port: number };
  /** Where runners' calls arrive, forwarded by their worker's door. */
  runner: { host: string; port: number };
  /** What carries this cell's jobs, as the catalog records it. */
  transportName: string;
  /** Names, besides those of loopback and their own addresses, that the listeners answer to. */
  allowedHosts?: readonly string[];
  /** The secret that workers share which have no credential of their own. @default the data directory's */
  workerToken?: string;
  bodyPace?: BodyPace;
  /** How long an attempt is good without a heartbeat. @default 15_000 */
  leaseMs?: number;
  /** What turns may ask of a host. @default the safe defaults */
  policy?: Policy;
  /** What all projects together may spend on models in a day (of UTC), in dollars. @default no limit */
  budgetUsdPerDay?: number;
}

export interface Toolhost {
  start(): Promise<void>;
  stop(): Promise<void>;
  /** Where workers reach it, once started. */
  readonly workerUrl: string;
  /** Where doors forward to, once started. */
  readonly runnerUrl: string;
}

/** As it was compiled, also for tests that run from the sources: threads know no loaders. Bundles keep this place. */
const bodyThread = new URL('../dist/bodies/body-thread.js', import.meta.url);

/** The only door out of a container: verifies, records and executes what agents do. Stateless; run as many as you like. */
export function createToolhost(config: ToolhostConfig, dependencies: ToolhostDependencies): Toolhost {
  let servers: { worker: HttpServer; runner: HttpServer } | undefined;
  let waits: ClaimWaits | undefined;
  let reader: BodyReader | undefined;
  let delist: (() => Promise<void>) | undefined;

  async function start(): Promise<void> {
    const { cell } = dependencies;
    const context: ToolhostContext = {
      ...dependencies,
      cellKey: cell.directory.cellKey(),
      leaseMs: config.leaseMs ?? 15_000,
      policyOf: policyWithGrants(config.policy ?? defaultPolicy, cell.directory),
      host: hostPaths([cell.directory.root], { mounting: false }),
      owner: randomUUID(),
      bodies: new RunnerBodies(),
      reader: (reader = new BodyReader(bodyThread)),
      refusals: new RefusalPace(),
      dayLimitNanoUsd: config.budgetUsdPerDay === undefined ? undefined : config.budgetUsdPerDay * nanoPerUsd,
    };
    await cell.catalog.spending.limitTo(context.dayLimitNanoUsd);
    await admitWorkers(config.workerToken ?? cell.directory.workerToken(), dependencies);
    const { allowedHosts, bodyPace = {} } = config;
    const listen = ({ host, port }: ToolhostConfig['worker'], ...routers: Router[]) =>
      startHttpServer(listener(context, routers, { host, allowedHosts }), { host, port, bodyPace });
    waits = new ClaimWaits(context.transport);
    const worker = await listen(config.worker, attemptsRouter(context), handlersRouter(context, waits));
    try {
      servers = { worker, runner: await listen(config.runner, toolsRouter(context), modelsRouter(context)) };
      delist = await cell.catalog.processes.enlist({
        service: 'toolhost',
        cell: cell.id,
        transport: config.transportName,
      });
    } catch (error) {
      await servers?.runner.stop();
      await worker.stop();
      throw error;
    }
  }

  async function stop(): Promise<void> {
    waits?.close();
    await Promise.all([servers?.worker.stop(), servers?.runner.stop()]);
    await reader?.close();
    await delist?.();
    delist = undefined;
  }

  const started = () => {
    if (!servers) throw new Error('the ToolHost has not been started');
    return servers;
  };
  return {
    start,
    stop,
    get workerUrl() {
      return started().worker.url;
    },
    get runnerUrl() {
      return started().runner.url;
    },
  };
}

function listener(context: ToolhostContext, routers: Router[], names: ListenerNames): express.Express {
  const app = express();
  app.disable('x-powered-by');
  app.disable('etag');
  app.use(refuseForeignRequests(names));
  app.use(...routers);
  app.use(notFoundHandler);
  app.use(countRefusals(context));
  app.use(problemHandler(context.logger));
  return app;
}

function countRefusals(context: ToolhostContext): express.ErrorRequestHandler {
  const logRefusal = refusalLog(context);
  return (error: unknown, request, _response, next) => {
    logRefusal(error, request);
    next(error);
  };
}

/** Whoever has the secret may claim turns, unless it was revoked. */
async function admitWorkers(secret: string, { cell, logger }: ToolhostDependencies): Promise<void> {
  if (await cell.catalog.tokens.admit('worker', secret)) return;
  logger.warn(
    'the token "worker" was revoked: workers need tokens of their own (suzumio tokens create NAME --scope worker)',
  );
}
