import { join } from 'node:path';
import type { Environment } from '@suzumio/core/config/environment';
import type { Logger } from '@suzumio/runtime/observability/logger';
import type { Metrics } from '@suzumio/runtime/observability/metrics';
import type { HostPaths } from '@suzumio/core/policy/host-paths';
import { hostPaths } from '@suzumio/runtime/disk/this-host';
import { usualWorkspaceLimits } from '@suzumio/protocol/workspace-manifest';
import type { Transport, TurnConsumer } from '@suzumio/runtime/queue/transport';
import { reportLostAttempts } from './attempt/lost-attempts.js';
import { AttemptRunner } from './attempt/attempt-runner.js';
import type { Engines, Host, PolicyOf } from './attempt/host.js';
import type { AttemptMetrics } from './attempt/worker-context.js';
import { WorkerDisk } from './attempt/worker-disk.js';
import { Comparisons } from './compare/comparisons.js';
import { type TurnWorkerConfig, turnWorkerConfig, type TurnWorkerSettings } from './config.js';
import { DockerEngine } from './engine/docker/docker-engine.js';
import { type EngineAddress, engineAddress } from './engine/docker/engine-address.js';
import { ProcessEngine } from './engine/process/process-engine.js';
import { Cells, type CellsOptions } from './toolhost/cells.js';
import { Repositories } from './git/repositories.js';
import { GoneProjects } from './gone-projects.js';
import { Presence } from './presence.js';
import { Readiness } from './readiness.js';
import { openFreeSubdirectory, openWorkerDirectory, type WorkerDirectory } from './worker-directory.js';
import { boundsOf } from './workspace/workspace-bounds.js';
import { WorkspaceThreads } from './workspace/workspace-threads.js';
import { Workspaces } from './workspace/workspaces.js';

/** From here and from what is compiled of it, the same file. */
const workspaceThread = new URL('../dist/workspace/workspace-thread.js', import.meta.url);

export interface TurnWorkerDependencies {
  transport: Pick<Transport, 'consumeTurns' | 'consumeRepositoryDiffs' | 'announce' | 'depart'>;
  logger: Logger;
  metrics?: AttemptMetrics & Pick<Metrics, 'workerReady'>;
  /** A project's policy, where it differs from the configuration's. */
  policyOf?: PolicyOf;
  /** Directories in which grants of projects let agents write on this host. @default none */
  writable?: () => readonly string[];
  /** A cell's present credential, where it may be replaced. */
  credentialOf?: CellsOptions['credentialOf'];
  /** Leads to the engine, as for Docker's own command. @default nothing: the default socket */
  environment?: Environment;
  /** Replaces the engines that the policy names. */
  engines?: Engines;
  /** Aborted when a stop is to give running turns no more time. @default they have all of it */
  hurry?: AbortSignal;
  /** A monotonic clock. @default performance.now */
  now?: () => number;
}

/** A service that takes turn jobs and runs each in a sandbox. */
export interface TurnWorker {
  /**
   * Resolves when jobs are being taken, or it was logged why not yet.
   *
   * @throws SuzumioError when the directory cannot be used
   */
  start(): Promise<void>;
  /** Takes no new jobs, lets running attempts finish within the grace period, kills and reports the rest. Bounded. */
  stop(): Promise<void>;
  /** Whether jobs are taken now. */
  readonly ready: boolean;
  /** The cells that refuse it, and their codes. */
  readonly refusedBy: readonly { cell: string; code: string }[];
}

/** Builds a turn-worker. Nothing happens before it is started. */
export function createTurnWorker(settings: TurnWorkerSettings, dependencies: TurnWorkerDependencies): TurnWorker {
  const config = turnWorkerConfig.parse(settings);
  let running: Promise<RunningWorker> | undefined;
  let worker: RunningWorker | undefined;
  return {
    async start() {
      running ??= RunningWorker.start(config, dependencies);
      try {
        worker = await running;
      } catch (error) {
        running = undefined;
        throw error;
      }
    },
    async stop() {
      const started = await running?.catch(() => undefined);
      worker = undefined;
      running = undefined;
      await started?.stop();
    },
    get ready() {
      return worker?.ready ?? false;
    },
    get refusedBy() {
      return worker?.refusedBy ?? [];
    },
  };
}

/** What exists between start and stop. */
class RunningWorker {
  readonly #readiness: Readiness;
  readonly #presence: Presence;
  readonly #address: EngineAddress;
  readonly #engines: Engines;
  readonly #cells: Cells;
  readonly #runner: AttemptRunner;
  readonly #comparisons: Comparisons;
  readonly #disk: WorkerDisk;
  readonly #timers: NodeJS.Timeout[] = [];
  readonly #stopping = new AbortController();
  /** Of turns, and of comparisons beside them. */
  #consumers: readonly TurnConsumer[] = [];
  readonly #gone: GoneProjects;
  readonly #threads = new WorkspaceThreads(workspaceThread);
  #sweeping: Promise<void> = Promise.resolve();
  #checking = false;
  #takenOver = false;
  #reporting: Promise<void> = Promise.resolve();

  private constructor(
    private readonly config: TurnWorkerConfig,
    private readonly dependencies: TurnWorkerDependencies,
    private readonly directory: WorkerDirectory,
  ) {
    const { logger, metrics, policyOf = () => config.policy, now = () => performance.now() } = dependencies;
    const { limits } = config;
    const onSuspect = () => this.#readiness.suspect();
    const { worker, boot, states, path } = directory;
    this.#readiness = new Readiness({
      probe: () => this.#probe(),
      retryMs: limits.probeRetryMs,
      onChange: (ready) => this.#change(ready),
      logger,
    });
    this.#address = engineAddress(dependencies.environment ?? {}, config.dockerSocket);
    this.#engines = dependencies.engines ?? createEngines(config, directory, this.#address, { logger, onSuspect });
    this.#cells = new Cells({
      cells: config.cells,
      credentialOf: dependencies.credentialOf,
      worker,
      callMs: limits.callMs,
      logger,
      onChange: () => this.#cellsChanged(),
    });
    this.#presence = new Presence({
      transport: dependencies.transport,
      worker,
      slots: config.slots,
      cells: () => this.#cells,
      engines: this.#engines,
      busy: () => this.#runner.busy,
      readiness: () => this.#readiness,
      logger,
    });
    const bounds = boundsOf(usualWorkspaceLimits);
    const workspaces = new Workspaces({ workerDir: path, boot, threads: this.#threads, bounds });
    this.#disk = new WorkerDisk({ path, minFreeBytes: limits.minFreeBytes, onShort: onSuspect, now });
    const host: Host = {
      engines: this.#engines,
      workspaces,
      repositories: new Repositories({
        directory: join(path, 'git'),
        bounds,
        cloneMs: limits.cloneMs,
        environment: dependencies.environment,
      }),
      disk: this.#disk,
      paths: directory,
      limits,
      relayPorts: config.relay.ports,
      policyOf,
      mountable: () => this.#mountable(),
    };
    this.#runner = new AttemptRunner(this.#cells, host, {
      worker,
      states,
      logger,
      metrics,
      stopping: this.#stopping.signal,
      now,
      onSuspect,
      onCancelled: () => this.#sweep(),
    });
    this.#comparisons = new Comparisons({
      cells: this.#cells,
      host,
      image: config.runnerImage,
      logger,
      stopping: this.#stopping.signal,
      timeoutMs: limits.compareMs,
    });
    this.#gone = new GoneProjects({ workspaces, engines: this.#engines, attempts: this.#runner, logger });
  }

  static async start(config: TurnWorkerConfig, dependencies: TurnWorkerDependencies): Promise<RunningWorker> {
    const open = config.shareWorkerDir ? openFreeSubdirectory : openWorkerDirectory;
    const directory = await open(config.workerDir, config.shimFile);
    const worker = new RunningWorker(config, dependencies, directory);
    await worker.#readiness.start();
    worker.#presence.start();
    worker.#timers.push(setInterval(() => worker.#sweep(), config.limits.sweepMs));
    worker.#timers.push(setInterval(() => worker.#checkCells(), config.limits.cellCheckMs));
    return worker;
  }

  get ready(): boolean {
    return this.#readiness.ready;
  }

  get refusedBy(): { cell: string; code: string }[] {
    return this.#cells.refused;
  }

  async stop(): Promise<void> {
    this.#stopping.abort();
    for (const timer of this.#timers) clearInterval(timer);
    await this.#readiness.stop();
    await this.#pause();
    this.#presence.drain();
    await this.#runner.close(this.config.limits.shutdownGraceMs, this.dependencies.hurry);
    await this.#comparisons.close();
    await this.#reporting;
    this.#cells.close();
    for (const consumer of this.#consumers) await consumer.close();
    await this.#presence.close();
    await this.#sweeping;
    for (const engine of Object.values(this.#engines)) await engine.close();
    await this.#threads.close();
    await this.directory.release();
  }

  /** Read anew for each attempt: links may have changed, and engines report their directories only once they answer. */
  #mountable(): HostPaths {
    const { workerDir, protectedPaths } = this.config;
    const state = Object.values(this.#engines).flatMap(({ stateDirectories = [] }) => stateDirectories);
    const sockets = this.#address.kind === 'socket' ? [this.#address.path] : [];
    // The whole worker directory, since another worker may have its own in it.
    const ours = [workerDir, this.directory.path, ...sockets, ...state, ...protectedPaths];
    const { writable = () => [] } = this.dependencies;
    return hostPaths(ours, { mounting: true, writable });
  }

  async #probe(): Promise<void> {
    await this.#disk.requireRoom();
    for (const engine of Object.values(this.#engines)) await engine.probe();
    await this.#takeOver();
    await this.#cells.check();
  }

  /** Reports the attempts of this worker's previous process, whose sandboxes the engines have killed. */
  async #takeOver(): Promise<void> {
    if (this.#takenOver) return;
    const { logger } = this.dependencies;
    const { states } = this.directory;
    await this.directory.clear((path, error) =>
      logger.warn({ err: error, path }, 'the directory of an earlier turn is still written to, so it is kept for now'),
    );
    const left = await states.left();
    this.#takenOver = true;
    this.#reporting = reportLostAttempts(left, {
      states,
      cells: this.#cells,
      patienceMs: this.config.limits.claimPatienceMs,
      stopping: this.#stopping.signal,
      logger,
    });
  }

  #cellsChanged(): void {
    if (this.#cells.open.length === 0) this.#readiness.suspect();
    this.#presence.announce();
  }

  async #change(ready: boolean): Promise<void> {
    const { metrics, transport } = this.dependencies;
    metrics?.workerReady.set(ready ? 1 : 0);
    this.#presence.announce();
    if (!ready) {
      await this.#pause();
      return;
    }
    if (this.#consumers.length > 0) for (const consumer of this.#consumers) consumer.resume();
    else {
      this.#consumers = [
        transport.consumeTurns({ concurrency: this.config.slots }, (job) => this.#runner.run(job)),
        transport.consumeRepositoryDiffs((job) => this.#comparisons.run(job)),
      ];
    }
    // Containers that ended while this worker was stopped are due now.
    this.#sweep();
  }

  async #pause(): Promise<void> {
    await Promise.all(this.#consumers.map((consumer) => consumer.pause()));
  }

  /** An idle worker finds out about refusals as well. */
  #checkCells(): void {
    if (this.#checking) return;
    this.#checking = true;
    this.#cells
      .check()
      .catch(() => this.#readiness.suspect())
      .finally(() => (this.#checking = false));
  }

  #sweep(): void {
    this.#sweeping = this.#sweeping.then(async () => {
      const isGone = await this.#gone.find();
      for (const engine of Object.values(this.#engines)) {
        await engine
          .sweep(isGone)
          .catch((error: unknown) =>
            this.dependencies.logger.warn({ err: error }, 'ended sandboxes could not be swept'),
          );
      }
    });
  }
}

function createEngines(
  config: TurnWorkerConfig,
  directory: WorkerDirectory,
  address: EngineAddress,
  { logger, onSuspect }: { logger: Logger; onSuspect: () => void },
): Engines {
  const { worker, path: workerDir, shimFile } = directory;
  const engines: Engines = {};
  if (config.policy.backends.includes('docker')) {
    engines.docker = new DockerEngine({
      worker,
      workerDir,
      shimFile,
      door: config.door,
      turnUser: config.turnUser,
      relayHost: config.relay.host,
      probeImage: config.runnerImage,
      address,
      logger,
      onSuspect,
    });
  }
  if (config.policy.backends.includes('process')) {
    logger.warn('the process backend is enabled: its turns run as this user, without any isolation');
    engines.process = new ProcessEngine({ worker, workerDir, runnerBundle: config.runnerBundle });
  }
  return engines;
}
