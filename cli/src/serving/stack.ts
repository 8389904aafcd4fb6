import { closeSync, mkdirSync, openSync, writeSync } from 'node:fs';
import { dirname, join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import { type ApiGuards, createApi } from '@suzumio/api';
import type { Environment } from '@suzumio/core/config/environment';
import { Scheduler } from '@suzumio/scheduler';
import { storeHooks, tellCopied } from '@suzumio/control-plane/store-hooks';
import { isSuzumioError, SuzumioError } from '@suzumio/contract/errors/suzumio-error';
import { ProxySettings } from '@suzumio/runtime/http/proxy-settings';
import { startHealthListener } from '@suzumio/runtime/process/health-listener';
import { createLogger } from '@suzumio/runtime/observability/logger';
import { createRedactor } from '@suzumio/runtime/observability/redactor';
import { tellFatal } from '@suzumio/runtime/process/run-service';
import { environmentSecrets } from '@suzumio/runtime/process/secret-source';
import { createMetrics } from '@suzumio/runtime/observability/metrics';
import { policyWithGrants, writableByGrants } from '@suzumio/store/cell/grants';
import type { Policy } from '@suzumio/core/policy/policy';
import { createInProcessTransport } from '@suzumio/runtime/queue/in-process-transport';
import { Cell } from '@suzumio/store/cell/cell';
import { DataDirectory } from '@suzumio/store/cell/data-directory';
import { createToolhost } from '@suzumio/toolhost';
import { createTurnWorker } from '@suzumio/turn-worker';
import { dayBudgetOf } from '../day-budget.js';
import { installation } from './installation.js';
import { workerPortOf } from './worker-port.js';
import { announceServer, findServer, withdrawServer } from '../reach/server-file.js';

export interface StackOptions {
  /** The data directory. */
  readonly root: string;
  readonly host: string;
  /** 0 takes any free port. */
  readonly port: number;
  /** Where `/metrics`, `/healthz` and `/readyz` are answered, on loopback; 0 takes any free port. @default nowhere */
  readonly metricsPort?: number | undefined;
  /** Whether to start turns; otherwise another process's scheduler must. */
  readonly scheduler: boolean;
  /** What projects may ask of this machine. */
  readonly policy: Policy;
  /** Where the keys of providers are, by the names that project files give. */
  readonly environment: Environment;
  /** Who may use the API. @default holders of a token */
  readonly access?: Omit<ApiGuards, 'host'>;
}

/** All services, in this process. */
export interface Stack {
  /** Where the API answers. */
  readonly url: string;
  /** Where Prometheus finds the metrics, if anywhere. */
  readonly metricsUrl: string | undefined;
  /** Where handlers of external agents find the ToolHost. */
  readonly handlersUrl: string;
  readonly cell: Cell;
  /** Whether the API asks for no token. */
  readonly open: boolean;
  /** Whether turns can run now. */
  readonly ready: boolean;
  readonly logFile: string;
  /** Aborted with the reason when it cannot go on: it is to be stopped then. */
  readonly failed: AbortSignal;
  /** Gives turns that run no more time: called while the stack is being stopped, or before. */
  endTurns(): void;
  /** Takes no more work, lets running turns go on for a while, and closes everything. */
  stop(): Promise<void>;
}

interface Running {
  stop(): Promise<void>;
}

interface Service extends Running {
  start(): Promise<void>;
}

/**
 * Starts every service in this process over one data directory, and says in it where the API is.
 *
 * @throws SuzumioError `data-dir-in-use` when the directory is being served, `settings-invalid` when the address is taken
 */
export async function startStack(options: StackOptions): Promise<Stack> {
  const { root, host, port, metricsPort, policy, access } = options;
  const directory = new DataDirectory(root);
  await refuseSecondServer(directory);
  directory.prepare();
  const logFile = join(root, 'logs', 'serve.log');
  const log = openLog(logFile);
  const redactor = createRedactor();
  const logger = createLogger({ service: 'suzumio', destination: { write: (line) => writeSync(log, line) }, redactor });
  const metrics = createMetrics('suzumio');
  const transport = createInProcessTransport({ logger });
  const failure = new AbortController();
  const hurry = new AbortController();
  const fail = (error: unknown): void => {
    if (failure.signal.aborted) return;
    tellFatal(logger, error);
    failure.abort(error);
  };
  const cell = Cell.open(root, { hooks: storeHooks({ transport, metrics, logger, fail }), storage: policy.storage });
  tellCopied(cell, logger);
  const shared = { cell, transport, logger, metrics };
  // Names this process: another one's transport, although of the same kind, carries nothing to here.
  const transportName = `process ${process.pid}`;

  const policyOf = policyWithGrants(policy, cell.directory);
  const budgetUsdPerDay = dayBudgetOf(options.environment);
  const workerPort = workerPortOf(options.environment);
  const dayBudget = budgetUsdPerDay === undefined ? {} : { budgetUsdPerDay };
  const proxies = new ProxySettings(options.environment);
  for (const secret of proxies.secrets) redactor.add(secret);
  const toolhost = createToolhost(
    { worker: { ...loopback, ...workerPort }, runner: loopback, transportName, policy, ...dayBudget },
    { ...shared, secrets: environmentSecrets(options.environment, redactor), proxies },
  );
  const api = createApi(
    { host, port, transportName, policy, toolhostUrls: () => [toolhost.workerUrl], ...dayBudget, ...access },
    shared,
  );
  const scheduler = new Scheduler({ transportName }, shared);
  const running: Running[] = [];
  const started = async <Kind extends Service>(service: Kind): Promise<Kind> => {
    await service.start();
    running.unshift(service);
    return service;
  };
  const stop = async (): Promise<void> => {
    await withdrawServer(cell.directory, process.pid);
    const outcomes = await inOrder(running.map((service) => () => service.stop()));
    await transport.close();
    await cell.close();
    closeSync(log);
    const failed = outcomes.find((outcome) => outcome.status === 'rejected');
    if (failed) throw failed.reason;
  };

  try {
    await onceVacated(() => started(toolhost));
    await started(api);
    if (options.scheduler) await started(scheduler);
    const worker = await started(
      createTurnWorker(
        {
          workerDir: join(root, 'worker'),
          protectedPaths: [root],
          policy,
          runnerBundle: installation.runnerBundle,
          shimFile: installation.shimFile,
          cells: {
            [cell.id]: {
              toolhostUrl: toolhost.workerUrl,
              runnerUrl: toolhost.runnerUrl,
              credential: cell.directory.workerToken(),
            },
          },
        },
        {
          transport,
          logger,
          metrics,
          environment: options.environment,
          policyOf: ({ project }) => policyOf(project),
          writable: () => writableByGrants(cell.directory),
          hurry: hurry.signal,
        },
      ),
    );
    const health =
      metricsPort === undefined
        ? undefined
        : await startHealthListener({
            ...loopback,
            port: metricsPort,
            metrics,
            logger,
            readiness: () => Promise.resolve({ ready: worker.ready }),
          });
    if (health) running.unshift(health);
    await announceServer(cell.directory, { url: api.url, pid: process.pid });
    return {
      url: api.url,
      handlersUrl: toolhost.workerUrl,
      metricsUrl: health && `${health.url}/metrics`,
      cell,
      logFile,
      failed: failure.signal,
      open: access?.auth === 'off',
      stop,
      endTurns: () => {
        hurry.abort();
      },
      get ready() {
        return worker.ready;
      },
    };
  } catch (error) {
    await stop();
    throw error;
  }
}

const loopback = { host: '127.0.0.1', port: 0 };

async function refuseSecondServer(directory: DataDirectory): Promise<void> {
  const server = await findServer(directory);
  if (!server) return;
  throw new SuzumioError(
    'data-dir-in-use',
    `${directory.root} is being served already, at ${server.url} by process ${server.pid}.`,
    { url: server.url, pid: server.pid },
  );
}

const vacatedWithinMs = 8_000;

/** A process that was killed still counts as serving for a few seconds: waits for those. */
async function onceVacated<Result>(start: () => Promise<Result>): Promise<Result> {
  const deadline = performance.now() + vacatedWithinMs;
  for (;;) {
    try {
      return await start();
    } catch (error) {
      if (!isSuzumioError(error, 'data-dir-in-use') || performance.now() > deadline) throw error;
      await sleep(250);
    }
  }
}

async function inOrder(steps: (() => Promise<void>)[]): Promise<PromiseSettledResult<void>[]> {
  const outcomes: PromiseSettledResult<void>[] = [];
  for (const step of steps) outcomes.push(...(await Promise.allSettled([step()])));
  return outcomes;
}

function openLog(file: string): number {
  mkdirSync(dirname(file), { recursive: true, mode: 0o700 });
  return openSync(file, 'a', 0o600);
}
