import { randomUUID } from 'node:crypto';
import express, { type Router } from 'express';
import { PackInspector } from '@suzumio/control-plane/packs/pack-inspector';
import { type HttpServer, startHttpServer } from '@suzumio/runtime/http/http-server';
import { refusalLog } from '@suzumio/runtime/http/refusal-log';
import { nanoPerUsd } from '@suzumio/core/budgets/model-cost';
import { notFoundHandler, problemHandler } from '@suzumio/runtime/http/problem-handler';
import { type ListenerNames, refuseForeignRequests } from '@suzumio/runtime/http/request-source';
import type { BodyPace } from '@suzumio/runtime/http/slow-bodies';
import { Outbound } from '@suzumio/runtime/http/outbound';
import { ProxySettings } from '@suzumio/runtime/http/proxy-settings';
import { policyWithGrants, writableByGrants } from '@suzumio/store/cell/grants';
import { Snapshots } from '@suzumio/store/workspaces/snapshots';
import { hostPaths } from '@suzumio/runtime/disk/this-host';
import { defaultPolicy, type Policy } from '@suzumio/core/policy/policy';
import { BodyReader } from './bodies/body-reader.js';
import { RunnerBodies } from './bodies/runner-bodies.js';
import { ClaimWaits } from './claim-waits.js';
import type { ToolhostContext, ToolhostDependencies } from './context.js';
import { type LiveBounds, LiveTurns } from './live/live-turns.js';
import { LongAnswers } from './long-answers.js';
import { RefusalPace } from './refusal-pace.js';
import { runnerRouters, workerRouters } from './routers.js';
import { Controllers } from './toolpacks/controllers.js';

export interface ToolhostConfig {
  /** The listener for workers. Never reachable from a container. */
  worker: { host: string; port: number; orAnyFree?: boolean };
  /** The listener for runners' calls, forwarded by their worker's door. */
  runner: { host: string; port: number };
  /** The transport of this cell's jobs, as recorded in the catalog. */
  transportName: string;
  /** Host names that the listeners accept besides loopback's and their own addresses. */
  allowedHosts?: readonly string[];
  /** The secret shared by workers without a credential of their own. @default the data directory's */
  workerToken?: string;
  bodyPace?: BodyPace;
  /** How long a lease lasts without a heartbeat. @default 15_000 */
  leaseMs?: number;
  /** The policy of a host. @default the safe defaults */
  policy?: Policy;
  /** The budget of all projects for a day (UTC), in dollars. @default no limit */
  budgetUsdPerDay?: number;
  /** How long a call of a toolpack's controller module may take. @default 30_000 */
  controllerMs?: number;
  /** Bounds of what followers of running turns see. */
  live?: Partial<LiveBounds>;
}

export interface Toolhost {
  start(): Promise<void>;
  stop(): Promise<void>;
  /** The address for workers, once started. */
  readonly workerUrl: string;
  /** The address for doors, once started. */
  readonly runnerUrl: string;
}

/** The compiled files, also in tests that run from source: threads have no loaders. Bundles keep these paths. */
const bodyThread = new URL('../dist/bodies/body-thread.js', import.meta.url);
const controllerChild = new URL('../dist/toolpacks/controller-child.js', import.meta.url);

/** Verifies, records and executes what agents do. Stateless: any number may run. */
export function createToolhost(config: ToolhostConfig, dependencies: ToolhostDependencies): Toolhost {
  let servers: { worker: HttpServer; runner: HttpServer } | undefined;
  let waits: ClaimWaits | undefined;
  let reader: BodyReader | undefined;
  let packs: PackInspector | undefined;
  let controllers: Controllers | undefined;
  const live = new LiveTurns(config.live);
  const outbound = new Outbound(dependencies.proxies ?? new ProxySettings({}));
  let delist: (() => Promise<void>) | undefined;

  async function start(): Promise<void> {
    const { cell } = dependencies;
    const context: ToolhostContext = {
      ...dependencies,
      outbound,
      cellKey: cell.directory.cellKey(),
      leaseMs: config.leaseMs ?? 15_000,
      policyOf: policyWithGrants(config.policy ?? defaultPolicy, cell.directory),
      host: hostPaths([cell.directory.root], {
        mounting: false,
        writable: () => writableByGrants(cell.directory),
      }),
      owner: randomUUID(),
      bodies: new RunnerBodies(),
      reader: (reader = new BodyReader(bodyThread)),
      packs: (packs = new PackInspector()),
      controllers: (controllers = new Controllers(controllerChild, config.controllerMs)),
      longAnswers: new LongAnswers(dependencies.cell),
      refusals: new RefusalPace(),
      live,
      serviceToken: cell.directory.serviceToken(),
      snapshots: new Snapshots(),
      dayLimitNanoUsd: config.budgetUsdPerDay === undefined ? undefined : config.budgetUsdPerDay * nanoPerUsd,
    };
    await cell.catalog.spending.limitTo(context.dayLimitNanoUsd);
    await admitWorkers(config.workerToken ?? cell.directory.workerToken(), dependencies);
    const { allowedHosts, bodyPace = {} } = config;
    const listen = (at: ToolhostConfig['worker'], routers: Router[]) =>
      startHttpServer(listener(context, routers, { host: at.host, allowedHosts }), { ...at, bodyPace });
    waits = new ClaimWaits(context.transport);
    const worker = await listen(config.worker, workerRouters(context, waits));
    try {
      servers = { worker, runner: await listen(config.runner, runnerRouters(context)) };
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
    live.close();
    outbound.close();
    await controllers?.close();
    await Promise.all([servers?.worker.stop(), servers?.runner.stop()]);
    await Promise.all([reader?.close(), packs?.close()]);
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

/** Accepts the workers' secret, unless it was revoked. */
async function admitWorkers(secret: string, { cell, logger }: ToolhostDependencies): Promise<void> {
  if (await cell.catalog.tokens.admit('worker', secret)) return;
  logger.warn(
    'the token "worker" was revoked: workers need tokens of their own (suzumio tokens create NAME --scope worker)',
  );
}
