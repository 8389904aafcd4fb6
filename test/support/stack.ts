import { type ChildProcess, spawn } from 'node:child_process';
import { randomBytes } from 'node:crypto';
import { once } from 'node:events';
import { createWriteStream, readFileSync } from 'node:fs';
import { mkdir, mkdtemp, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { eventually } from './poll.js';
import { startRedis, type TestRedis } from './redis.js';
import { freePort } from './free-port.js';

const repository = fileURLToPath(new URL('../..', import.meta.url));

/** What the images hold. */
const bundles = join(repository, '.cache/services');
const runner = join(bundles, 'turn-worker/runner');

export type ServiceName = 'api' | 'scheduler' | 'toolhost' | 'turn-worker';

/** One service as a process of its own. */
export interface ServiceProcess {
  readonly name: string;
  /** Ends it as a crash would, at once. */
  kill(): Promise<void>;
  /** Starts it again after it ended. */
  start(): Promise<void>;
  /** Tells it to stop, and returns its exit code. */
  stop(): Promise<number | null>;
  readonly running: boolean;
  readonly pid: number | undefined;
  /** Where it answers `/metrics`, `/healthz` and `/readyz`. */
  readonly healthUrl: string;
}

/** How many of each service there are, and how workers run turns. */
export interface StackOptions {
  schedulers?: number;
  toolhosts?: number;
  workers?: number;
  slots?: number;
  door?: 'auto' | 'socket' | 'stdio';
  backends?: ('docker' | 'process')[];
  /** What the policy of all services allows besides any image. */
  policy?: Readonly<Record<string, unknown>>;
  leaseMs?: number;
  sweepMs?: number;
  /** Where all that the services write is made; by default, where the system keeps temporary files. */
  parent?: string;
  /** Where the cell's data is, if not with the rest: a directory that exists. */
  data?: string;
  /** More variables for every service. */
  environment?: Readonly<Record<string, string>>;
  /** More arguments for the Node that runs each service. */
  nodeArguments?: readonly string[];
  /** Runs the services from their modules, which hooks may replace, and not from their bundles. */
  modules?: boolean;
  /** The program of the workers, where it is not the turn-worker's own. */
  workerProgram?: string;
}

/** The four services over Redis, each as processes of their own, and the API's client. */
export interface Stack {
  /** Labels its containers. */
  cell: string;
  root: string;
  redis: TestRedis;
  url: string;
  /** The listeners of each ToolHost. */
  toolhosts: { worker: string; runner: string }[];
  services: Record<ServiceName, ServiceProcess[]>;
  api(
    method: 'GET' | 'POST' | 'PUT' | 'DELETE',
    path: string,
    body?: unknown,
  ): Promise<{ status: number; body: unknown }>;
  /** What opens the API. */
  adminToken(): string;
  /** What workers show to the ToolHost. */
  workerToken(): string;
  /** Everything that the services wrote. */
  logs: () => string;
  stop(): Promise<void>;
}

export async function startStack(options: StackOptions = {}): Promise<Stack> {
  const root = await mkdtemp(join(options.parent ?? tmpdir(), 'suzumio-stack-'));
  const data = options.data ?? join(root, 'data');
  const cell = `test-${randomBytes(4).toString('hex')}`;
  const logFile = join(root, 'services.log');
  const policyFile = join(root, 'policy.yaml');
  await mkdir(data, { recursive: true });
  await writeFile(
    policyFile,
    JSON.stringify({ images: ['**'], backends: options.backends ?? ['docker'], ...options.policy }),
  );
  const redis = await startRedis();
  const common = {
    SUZUMIO_ROOT: data,
    SUZUMIO_REDIS_URL: redis.url,
    SUZUMIO_CELL: cell,
    SUZUMIO_POLICY_FILE: policyFile,
    ...(options.leaseMs === undefined ? {} : { SUZUMIO_LEASE_MS: String(options.leaseMs) }),
    ...(options.sweepMs === undefined ? {} : { SUZUMIO_SWEEP_MS: String(options.sweepMs) }),
    ...options.environment,
  };
  const log = createWriteStream(logFile, { flags: 'a' });
  // Two streams of every process are piped into it.
  log.setMaxListeners(0);
  const make = async (service: ServiceName, environment: Record<string, string>): Promise<ServiceProcess> => {
    const directory = options.modules ? join(repository, 'services') : bundles;
    const own = join(directory, service, 'dist/main.js');
    const program = (service === 'turn-worker' ? options.workerProgram : undefined) ?? own;
    const complete = { ...common, ...environment, SUZUMIO_HEALTH_PORT: String(await freePort()) };
    return serviceProcess(service, [...(options.nodeArguments ?? []), program], complete, log);
  };

  const toolhosts = await times(options.toolhosts ?? 1, async () => {
    const [worker, runner] = [await freePort(), await freePort()];
    const environment = { SUZUMIO_TOOLHOST_WORKER_PORT: String(worker), SUZUMIO_TOOLHOST_RUNNER_PORT: String(runner) };
    return { worker, runner, process: await make('toolhost', environment) };
  });
  const apiPort = await freePort();
  const api = await make('api', {
    SUZUMIO_PORT: String(apiPort),
    SUZUMIO_TOOLHOST_URLS: toolhosts.map(({ worker }) => local(worker)).join(','),
  });
  const schedulers = await times(options.schedulers ?? 1, () => make('scheduler', {}));
  const workers = await times(options.workers ?? 1, (index) => {
    const toolhost = toolhosts[index % toolhosts.length];
    if (!toolhost) throw new Error('a worker needs a ToolHost');
    return make('turn-worker', {
      SUZUMIO_WORKER_DIR: join(root, `worker-${String(index)}`),
      SUZUMIO_WORKER_SLOTS: String(options.slots ?? 2),
      SUZUMIO_TOOLHOST_URL: local(toolhost.worker),
      SUZUMIO_TOOLHOST_RUNNER_URL: local(toolhost.runner),
      SUZUMIO_WORKER_TOKEN_FILE: join(data, 'worker.token'),
      SUZUMIO_DOOR: options.door ?? 'auto',
      SUZUMIO_RUNNER_BUNDLE: join(runner, 'runner.mjs'),
      SUZUMIO_SHIM_FILE: join(runner, 'shim.mjs'),
    });
  });
  const services = {
    api: [api],
    toolhost: toolhosts.map(({ process }) => process),
    scheduler: schedulers,
    'turn-worker': workers,
  };
  const all = Object.values(services).flat();
  const url = local(apiPort);

  const stack: Stack = {
    cell,
    root: data,
    redis,
    url,
    toolhosts: toolhosts.map(({ worker, runner }) => ({ worker: local(worker), runner: local(runner) })),
    services,
    adminToken: () => readFileSync(join(data, 'admin.token'), 'utf8').trim(),
    workerToken: () => readFileSync(join(data, 'worker.token'), 'utf8').trim(),
    async api(method, path, body) {
      const response = await fetch(`${url}/api${path}`, {
        method,
        headers: { authorization: `Bearer ${stack.adminToken()}`, 'content-type': 'application/json' },
        ...(body === undefined ? {} : { body: JSON.stringify(body) }),
      });
      const text = await response.text();
      return { status: response.status, body: text === '' ? undefined : (JSON.parse(text) as unknown) };
    },
    logs: () => readFileSync(logFile, 'utf8'),
    async stop() {
      await Promise.all(all.map((service) => service.stop()));
      await redis.stop();
      await new Promise((resolve) => log.end(resolve));
      await rm(root, { recursive: true, force: true });
    },
  };
  try {
    // The ToolHost makes the secret that workers show.
    await Promise.all([...services.api, ...services.toolhost, ...services.scheduler].map((service) => service.start()));
    await Promise.all(workers.map((worker) => worker.start()));
  } catch (error) {
    const logs = stack.logs();
    await stack.stop();
    throw new Error(`the stack did not start; its services wrote:\n${logs}`, { cause: error });
  }
  return stack;
}

function serviceProcess(
  service: ServiceName,
  nodeArguments: readonly string[],
  environment: Record<string, string>,
  log: NodeJS.WritableStream,
): ServiceProcess {
  let child: ChildProcess | undefined;
  const healthUrl = local(Number(environment['SUZUMIO_HEALTH_PORT']));
  const running = () => child !== undefined && child.exitCode === null && child.signalCode === null;
  const end = async (signal: NodeJS.Signals): Promise<number | null> => {
    if (!child || !running()) return child?.exitCode ?? null;
    const exited = once(child, 'exit');
    child.kill(signal);
    const [code] = (await exited) as [number | null];
    return code;
  };
  return {
    name: service,
    healthUrl,
    get running() {
      return running();
    },
    get pid() {
      return child?.pid;
    },
    async kill() {
      await end('SIGKILL');
    },
    stop: () => end('SIGTERM'),
    async start() {
      let said = '';
      child = spawn(process.execPath, nodeArguments, {
        env: { PATH: process.env['PATH'], NODE_COMPILE_CACHE: process.env['NODE_COMPILE_CACHE'], ...environment },
        stdio: ['ignore', 'pipe', 'pipe'],
      });
      for (const output of [child.stdout, child.stderr]) {
        output?.pipe(log, { end: false });
        output?.on('data', (data) => (said = `${said}${String(data)}`.slice(-4_000)));
      }
      await eventually(
        `${service} is ready`,
        async () => {
          if (!running()) throw new Error(`${service} ended with code ${String(child?.exitCode)}`);
          return (await fetch(`${healthUrl}/readyz`).catch(() => undefined))?.ok ?? false;
        },
        { show: () => said },
      );
    },
  };
}

const local = (port: number) => `http://127.0.0.1:${String(port)}`;

async function times<Result>(count: number, make: (index: number) => Promise<Result>): Promise<Result[]> {
  const made: Result[] = [];
  for (let index = 0; index < count; index += 1) made.push(await make(index));
  return made;
}
