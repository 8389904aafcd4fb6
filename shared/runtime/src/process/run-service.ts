import { EventEmitter, once } from 'node:events';
import { setTimeout as delay } from 'node:timers/promises';
import type * as z from 'zod';
import { isSuzumioError, messageOf } from '@suzumio/contract/errors/suzumio-error';
import type { HttpServer } from '../http/http-server.js';
import { type Readiness, startHealthListener } from './health-listener.js';
import { createLogger, type Logger } from '../observability/logger.js';
import { createMetrics, type Metrics } from '../observability/metrics.js';
import { createRedactor, type Redactor } from '../observability/redactor.js';
import { parseEnvironment, type ServiceEnvironment } from './service-environment.js';

/** What a service is created with. */
export interface ServiceTools {
  logger: Logger;
  metrics: Metrics;
  /** Keeps this process's secrets out of the log. */
  redactor: Redactor;
  /** Stops the process cleanly with exit code 1: for errors that only another version or a person can fix. */
  fail: (error: unknown) => void;
}

/** A service with its resources. */
export interface ProcessService {
  start(): Promise<void>;
  /** Stops the service and closes its resources. */
  stop(): Promise<void>;
  /** @default ready once started */
  readiness?: () => Promise<Readiness>;
}

/** The part of `process` that is used. */
export type SignalSource = Pick<NodeJS.EventEmitter, 'on' | 'off'>;

export interface ServiceProcess<Environment extends ServiceEnvironment> {
  name: string;
  schema: z.ZodType<Environment>;
  environment: Readonly<Record<string, string | undefined>>;
  build: (environment: Environment, tools: ServiceTools) => ProcessService | Promise<ProcessService>;
  /** @default 30_000 */
  stopWithinMs?: number;
  /** The source of signals and uncaught errors. @default process */
  signals?: SignalSource;
}

/** The exit codes of a service. */
export const exitCodes = { stopped: 0, failed: 1, settings: 2 } as const;

/**
 * Runs a service as a process of its own until SIGTERM or SIGINT, and returns the exit code. The service then has
 * `stopWithinMs` to stop; a second signal does not wait for it. An uncaught error ends it at once: every service can be
 * killed at any moment.
 */
export async function runService<Environment extends ServiceEnvironment>(
  options: ServiceProcess<Environment>,
): Promise<number> {
  const { name, stopWithinMs = 30_000, signals = process } = options;
  const redactor = createRedactor();
  let environment: Environment;
  try {
    environment = parseEnvironment(options.schema, options.environment);
  } catch (error) {
    createLogger({ service: name, redactor }).fatal({ code: 'settings-invalid' }, messageOf(error));
    return exitCodes.settings;
  }
  const logger = createLogger({ service: name, level: environment.SUZUMIO_LOG_LEVEL, redactor });
  const metrics = createMetrics(name);
  const ending = awaitEnding(signals, logger);
  let service: ProcessService | undefined;
  let health: HttpServer | undefined;
  try {
    let started = false;
    const running = await options.build(environment, { logger, metrics, redactor, fail: ending.fail });
    service = running;
    health = await listen(environment, { metrics, logger }, async () =>
      started ? ((await running.readiness?.()) ?? { ready: true }) : { ready: false },
    );
    started = await Promise.race([running.start().then(() => true), ending.first.then(() => false)]);
    if (started) logger.info('started');
  } catch (error) {
    ending.fail(error);
  }

  const reason = await ending.first;
  const code = reason === 'crash' ? exitCodes.failed : await stopAll(service, health, logger, ending, stopWithinMs);
  ending.dispose();
  return reason === 'signal' ? code : exitCodes.failed;
}

type Reason = 'signal' | 'failure' | 'crash';

/** What ends a process: the first reason, or a second signal. */
interface Ending {
  first: Promise<Reason>;
  second: Promise<void>;
  fail: (error: unknown) => void;
  dispose: () => void;
}

function awaitEnding(signals: SignalSource, logger: Logger): Ending {
  const events = new EventEmitter();
  const first = once(events, 'first').then(([reason]) => reason as Reason);
  const second = once(events, 'second').then(() => undefined);
  let ending = false;
  const end = (reason: Reason) => {
    events.emit(ending ? 'second' : 'first', reason);
    ending = true;
  };
  const onSignal = (signal: string) => {
    logger.info({ signal }, ending ? 'received another signal to stop' : 'told to stop');
    end('signal');
  };
  const onCrash = (error: unknown) => {
    logger.fatal({ err: error }, 'an error that nobody caught');
    end('crash');
  };
  const listeners = [
    ['SIGTERM', onSignal],
    ['SIGINT', onSignal],
    ['uncaughtException', onCrash],
    ['unhandledRejection', onCrash],
  ] as const;
  for (const [event, listener] of listeners) signals.on(event, listener);
  return {
    first,
    second,
    fail: (error) => {
      if (ending) return;
      tellFatal(logger, error);
      end('failure');
    },
    dispose: () => {
      for (const [event, listener] of listeners) signals.off(event, listener);
    },
  };
}

/** Logs a fatal error: a `SuzumioError` by its message, which says what to do; anything else with all details. */
export function tellFatal(logger: Logger, error: unknown): void {
  if (!isSuzumioError(error)) {
    logger.fatal({ err: error }, 'cannot go on');
    return;
  }
  const { code, details, message } = error;
  logger.fatal({ code, ...details }, message);
}

function listen(
  environment: ServiceEnvironment,
  tools: Pick<ServiceTools, 'metrics' | 'logger'>,
  readiness: () => Promise<Readiness>,
): Promise<HttpServer> | undefined {
  const { SUZUMIO_HEALTH_PORT: port, SUZUMIO_HEALTH_HOST: host, SUZUMIO_ALLOWED_HOSTS: allowedHosts } = environment;
  return port === undefined ? undefined : startHealthListener({ host, port, allowedHosts, ...tools, readiness });
}

async function stopAll(
  service: ProcessService | undefined,
  health: HttpServer | undefined,
  logger: Logger,
  ending: Ending,
  withinMs: number,
): Promise<number> {
  const stopping = Promise.allSettled([service?.stop(), health?.stop()]);
  const bound = new AbortController();
  const inTime = await Promise.race([
    stopping.then(() => true),
    delay(withinMs, false, { signal: bound.signal }),
    ending.second.then(() => false),
  ]).finally(() => bound.abort());
  if (!inTime) {
    logger.error('exited before everything had stopped');
    return exitCodes.failed;
  }
  const failures = (await stopping).filter((result) => result.status === 'rejected');
  for (const { reason } of failures) logger.error({ err: reason as unknown }, 'could not stop cleanly');
  if (failures.length > 0) return exitCodes.failed;
  logger.info('stopped');
  return exitCodes.stopped;
}
