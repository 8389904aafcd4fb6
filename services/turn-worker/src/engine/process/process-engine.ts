import { spawn } from 'node:child_process';
import { access, readdir, readFile } from 'node:fs/promises';
import { delimiter, dirname, join } from 'node:path';
import { once } from 'node:events';
import { setTimeout as sleep } from 'node:timers/promises';
import type { ProjectRef, SandboxLimits } from '@suzumio/protocol/attempts';
import { unixDoorPrefix } from '@suzumio/protocol/door';
import { AttemptFailure } from '../attempt-failure.js';
import { errnoOf } from '../../files/errno.js';
import { LogTail } from '../log-tail.js';
import type { PreparedSandbox, Sandbox, StartOptions, TurnEngine } from '../turn-engine.js';
import { ProcessSandbox } from './process-sandbox.js';

export interface ProcessEngineOptions {
  worker: string;
  /** Turns' directories are below it: a process with one of them in its environment is this worker's. */
  workerDir: string;
  runnerBundle: string;
}

const orphanPatienceMs = 5_000;

/** Turns in plain processes of the worker's own user: the same runner, and no isolation. */
export class ProcessEngine implements TurnEngine {
  readonly name: string;
  #opened = false;

  constructor(private readonly options: ProcessEngineOptions) {
    this.name = `process:${options.worker}`;
  }

  async probe(): Promise<void> {
    const { runnerBundle } = this.options;
    await access(runnerBundle).catch((error: unknown) => {
      throw new AttemptFailure(
        'container-start-failed',
        `There is no runner at ${runnerBundle}; build it: npm run build.`,
        { cause: error },
      );
    });
    if (!this.#opened) await this.#killOrphans();
    this.#opened = true;
  }

  /** Never finds a later attempt: this worker's attempts end in order, and orphans were killed at its start. */
  async evict(): Promise<boolean> {
    return Promise.resolve(true);
  }

  async prepare({ env }: SandboxLimits): Promise<PreparedSandbox> {
    return Promise.resolve({
      owner: undefined,
      door: { kind: 'socket' },
      workspaceSeen: (directory) => directory,
      controllerUrl: ({ socket }) => `${unixDoorPrefix}${socket}`,
      start: (options) => this.#start(options, env),
    });
  }

  async kept(): Promise<ProjectRef[]> {
    return Promise.resolve([]);
  }

  async sweep(): Promise<void> {
    // A process leaves nothing to sweep.
  }

  async close(): Promise<void> {
    // Nothing is held.
  }

  async #start(options: StartOptions, env: SandboxLimits['env']): Promise<Sandbox> {
    const child = spawn(process.execPath, [this.options.runnerBundle], {
      cwd: options.workspace,
      // A process group of its own, so that its children can be killed with it.
      detached: true,
      stdio: ['ignore', 'pipe', 'pipe'],
      env: {
        ...env,
        PATH: [dirname(process.execPath), '/usr/local/bin', '/usr/bin', '/bin'].join(delimiter),
        HOME: options.turnDirectory,
        SUZUMIO_TURN_DIR: options.turnDirectory,
      },
    });
    const log = new LogTail(options.maxLogBytes);
    for (const output of [child.stdout, child.stderr]) output.on('data', (chunk: Buffer) => log.write(chunk));
    await Promise.race([
      once(child, 'spawn'),
      once(child, 'error').then(([error]) => Promise.reject(startFailed(error))),
    ]);
    return new ProcessSandbox(child, log);
  }

  /** A process that outlived its worker still has its turn's directory in its environment. */
  async #killOrphans(): Promise<void> {
    const ours = `SUZUMIO_TURN_DIR=${join(this.options.workerDir, 'turns')}/`;
    const find = async () => {
      const pids = (await readdir('/proc').catch(() => [])).filter((name) => /^\d+$/.test(name));
      const environments = await Promise.all(
        pids.map((pid) => readFile(`/proc/${pid}/environ`, 'utf8').catch(() => '')),
      );
      return pids
        .filter((_, i) => environments[i]?.split('\0').some((variable) => variable.startsWith(ours)))
        .map(Number);
    };
    const giveUpAt = performance.now() + orphanPatienceMs;
    for (let found = await find(); found.length > 0; found = await find()) {
      for (const pid of found) killIfThere(pid);
      if (performance.now() > giveUpAt) {
        throw new AttemptFailure(
          'container-start-failed',
          `Processes of an earlier worker do not end: ${found.join(', ')}.`,
        );
      }
      await sleep(50);
    }
  }
}

function killIfThere(pid: number): void {
  try {
    process.kill(pid, 'SIGKILL');
  } catch (error) {
    if (errnoOf(error) !== 'ESRCH') throw error;
  }
}

function startFailed(error: unknown): AttemptFailure {
  return new AttemptFailure('container-start-failed', 'The runner could not be started as a process.', {
    cause: error,
  });
}
