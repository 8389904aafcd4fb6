import { randomBytes } from 'node:crypto';
import { mkdtemp, rm } from 'node:fs/promises';
import { fileURLToPath } from 'node:url';
import { afterEach } from '@jest/globals';
import type { ClaimAnswer } from '@suzumio/protocol/attempts';
import type { MockStep } from '@suzumio/protocol/mock-script';
import { createInProcessTransport } from '@suzumio/runtime/queue/in-process-transport';
import { createLogger } from '@suzumio/runtime/observability/logger';
import type { Transport } from '@suzumio/runtime/queue/transport';
import { createTurnWorker, type TurnWorker, type TurnWorkerSettings } from '../../src/index.js';
import type { Engines, PolicyOf } from '../../src/attempt/host.js';
import { baseImage, docker, runnerImage } from './images.js';
import { credential, newTurnId, TestToolHost, type TestTurn } from './test-toolhost.js';
import { until } from './until.js';

const root = fileURLToPath(new URL('../../../../', import.meta.url));
export const runnerBundle = `${root}runner/dist/bundle/runner.mjs`;
export const shimFile = `${root}runner/dist/shim.mjs`;

export interface TurnSpec {
  turn?: string;
  agent?: string;
  attempt?: number;
  epoch?: number;
  image?: string;
  backend?: ClaimAnswer['backend'];
  sandbox?: Partial<ClaimAnswer['sandbox']>;
  workspaceLimits?: ClaimAnswer['workspaceLimits'];
  timeoutMs?: number;
  leaseMs?: number;
  snapshot?: string | null;
  /** Becomes the workspace's `agent.mjs`. */
  program?: string;
  /** What the mock runner plays. */
  steps?: MockStep[];
}

type Limits = NonNullable<TurnWorkerSettings['limits']>;

/** The images of tests have names of their own. */
export const testPolicy = { images: ['**'] };

const mib = 1024 * 1024;
/** Neither a turn's lease nor its time ends it, where a test does not say otherwise. */
const longMs = 600_000;

/** A worker with everything that it needs around it, and nothing of it left after `close`. */
export class World {
  readonly lines: Record<string, unknown>[] = [];
  /** No other test's: workers remove what is labelled as an older container of their agent. */
  readonly cell = `cell-${randomBytes(6).toString('hex')}`;
  worker: TurnWorker;

  private constructor(
    readonly directory: string,
    readonly toolhost: TestToolHost,
    readonly transport: Transport,
    private readonly options: WorldOptions,
  ) {
    this.worker = this.newWorker();
  }

  static async open(options: WorldOptions = {}): Promise<World> {
    const directory = await mkdtemp('/tmp/suzumio-tw-');
    const toolhost = await TestToolHost.start();
    const transport = createInProcessTransport({ logger: createLogger({ service: 'test', level: 'silent' }) });
    const world = new World(directory, toolhost, transport, options);
    try {
      if (options.start !== false) await world.worker.start();
      return world;
    } catch (error) {
      await world.close();
      throw error;
    }
  }

  newWorker(settings: Partial<TurnWorkerSettings> = {}, limits: Limits = {}): TurnWorker {
    const destination = { write: (line: string) => void this.lines.push(JSON.parse(line) as Record<string, unknown>) };
    return createTurnWorker(
      {
        workerDir: `${this.directory}/w`,
        cells: {
          [this.cell]: { toolhostUrl: this.toolhost.toolhostUrl, runnerUrl: this.toolhost.runnerUrl, credential },
        },
        policy: testPolicy,
        runnerImage: baseImage,
        runnerBundle,
        shimFile,
        ...this.options.settings,
        ...settings,
        limits: { shutdownGraceMs: 0, probeRetryMs: 100, ...this.options.limits, ...limits },
      },
      {
        transport: this.transport,
        environment: process.env,
        logger: createLogger({ service: 'turn-worker', level: 'debug', destination }),
        ...(this.options.engines ? { engines: this.options.engines } : {}),
        ...(this.options.hurry ? { hurry: this.options.hurry } : {}),
        ...(this.options.credentialOf ? { credentialOf: this.options.credentialOf } : {}),
        ...(this.options.policyOf ? { policyOf: this.options.policyOf } : {}),
      },
    );
  }

  /** Puts a turn on the queue. */
  async give(spec: TurnSpec): Promise<TestTurn> {
    const turn = this.toolhost.add(this.claimOf(spec));
    await this.deliver(turn);
    return turn;
  }

  deliver(turn: TestTurn, cell = this.cell): Promise<void> {
    const { project } = turn.answer.input;
    return this.transport.addTurnJob({
      cell,
      project,
      epoch: 1,
      turn: turn.answer.input.turn.id,
      delivery: 1,
      priority: 'P1',
    });
  }

  /** Puts a turn on the queue and waits for its end. */
  async run(spec: TurnSpec): Promise<TestTurn> {
    const turn = await this.give(spec);
    return this.toolhost.ended(turn.answer.input.turn.id);
  }

  claimOf(spec: TurnSpec): ClaimAnswer {
    const turn = spec.turn ?? newTurnId();
    const agent = spec.agent ?? 'writer';
    const { attempt = 1, timeoutMs = longMs } = spec;
    return {
      attempt,
      epoch: spec.epoch ?? 1,
      leaseToken: `lease.${this.cell}.paper.1.${turn}.${attempt}.${'a'.repeat(43)}`,
      toolToken: `tool.${this.cell}.paper.1.${turn}.${attempt}.${'b'.repeat(43)}`,
      leaseMs: spec.leaseMs ?? longMs,
      timeoutMs,
      backend: spec.backend ?? 'docker',
      sandbox: {
        image: spec.image ?? runnerImage,
        memoryBytes: 256 * mib,
        cpus: 1,
        pids: 64,
        readOnlyRoot: true,
        network: 'none',
        mounts: [],
        env: {},
        tmpfs: { '/tmp': 16 * mib },
        keep: 'never',
        keepForMs: 0,
        ...spec.sandbox,
      },
      workspaceLimits: spec.workspaceLimits,
      snapshot: spec.snapshot ?? (spec.program === undefined ? null : this.snapshotOf({ 'agent.mjs': spec.program })),
      input: {
        project: 'paper',
        agent: { id: agent, role: 'tester', prompt: 'Test.' },
        turn: { id: turn, prompt: 'Do it.', number: 1, attempt, mail: [] },
        runner: { mode: 'mock', script: [{ agent, steps: spec.steps ?? [{ text: 'done' }] }] },
        tools: [],
        sandbox: { mounts: [] },
        limits: { timeoutMs, doorPatienceMs: 3_000 },
      },
    };
  }

  /** Stores a snapshot of plain files. */
  snapshotOf(files: Record<string, string>): string {
    const entries = Object.entries(files)
      .sort(([a], [b]) => (a < b ? -1 : 1))
      .map(([path, text]) => ({
        kind: 'file',
        path,
        sha256: this.toolhost.put(text),
        sizeBytes: Buffer.byteLength(text),
        executable: false,
      }));
    return this.toolhost.put(JSON.stringify({ version: 1, entries }));
  }

  /** Containers of this world's turns, running or not. */
  async containers(): Promise<{ id: string; state: string }[]> {
    const turns = [...this.toolhost.turns.keys()];
    const all = await docker.listContainers({ all: true, filters: { label: ['suzumio.turn'] } });
    return all
      .filter(({ Labels }) => turns.includes(Labels['suzumio.turn'] ?? ''))
      .map(({ Id, State }) => ({ id: Id, state: State }));
  }

  /** The one container of a turn, once it is there. */
  async containerOf(turn: TestTurn): Promise<string> {
    const label = `suzumio.turn=${turn.answer.input.turn.id}`;
    let id: string | undefined;
    await until(async () => {
      const [found] = await docker.listContainers({ all: true, filters: { label: [label], status: ['running'] } });
      id = found?.Id;
      return id !== undefined;
    }, 'a running container');
    return id ?? '';
  }

  async close(): Promise<void> {
    await this.worker.stop();
    await this.transport.close();
    await this.toolhost.stop();
    const left = await this.containers();
    await Promise.all(left.map(({ id }) => docker.getContainer(id).remove({ force: true })));
    await rm(this.directory, { recursive: true, force: true });
  }
}

export interface WorldOptions {
  settings?: Partial<TurnWorkerSettings>;
  limits?: Limits;
  engines?: Engines;
  policyOf?: PolicyOf;
  hurry?: AbortSignal;
  credentialOf?: (cell: string) => string | undefined;
  start?: boolean;
}

/** Opens worlds that end with their test. */
export function worlds(): (options?: WorldOptions) => Promise<World> {
  const open: World[] = [];
  afterEach(async () => {
    for (const world of open.splice(0)) await world.close();
  });
  return async (options) => {
    const world = await World.open(options);
    open.push(world);
    return world;
  };
}
