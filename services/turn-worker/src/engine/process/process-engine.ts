import { spawn } from 'node:child_process';
import { access, mkdir } from 'node:fs/promises';
import { join } from 'node:path';
import { once } from 'node:events';
import type { ProjectRef, SandboxLimits } from '@suzumio/protocol/attempts';
import { artifactsVariable } from '@suzumio/protocol/own-artifacts';
import { unixDoorPrefix } from '@suzumio/protocol/door';
import { comparePack } from '@suzumio/protocol/repository-diff';
import { sharedPack } from '@suzumio/protocol/shared-repository';
import { localPack, sandboxToolpacks } from '@suzumio/protocol/tool-names';
import { AttemptFailure } from '../attempt-failure.js';
import { LogTail } from '../log-tail.js';
import type { PreparedSandbox, Sandbox, StartOptions, TurnEngine } from '../turn-engine.js';
import { killMarked, turnMark } from './marked-processes.js';
import { ProcessSandbox } from './process-sandbox.js';
import { programPath } from './programs.js';

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
      toolpacks: [...sandboxToolpacks, sharedPack, comparePack, localPack],
      announcesWrites: true,
      workspaceSeen: (directory) => directory,
      artifactsSeen: (directories) => directories,
      toolpacksSeen: (directory) => directory,
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
    await mkdir(options.temporary, { mode: 0o700 });
    const child = spawn(process.execPath, [this.options.runnerBundle], {
      cwd: options.workspace,
      // A process group of its own, so that its children can be killed with it.
      detached: true,
      stdio: ['ignore', 'pipe', 'pipe'],
      env: {
        // Nothing else would remove what a killed runner, or a program of the agent, leaves there.
        TMPDIR: options.temporary,
        ...env,
        PATH: programPath,
        HOME: options.home ?? options.turnDirectory,
        SUZUMIO_TURN_DIR: options.turnDirectory,
        ...(options.artifacts ? { [artifactsVariable]: options.artifacts.all } : {}),
        [turnMark]: options.turnDirectory,
      },
    });
    const log = new LogTail(options.maxLogBytes);
    const started = once(child, 'spawn').catch((error: unknown) => Promise.reject(startFailed(error)));
    // Without a process, as where no descriptor is left, it may have no outputs, either.
    if (child.pid !== undefined) {
      for (const output of [child.stdout, child.stderr]) output.on('data', (chunk: Buffer) => log.write(chunk));
    }
    await started;
    return new ProcessSandbox(child, log, `${turnMark}=${options.turnDirectory}`);
  }

  /** A process that outlived its worker still has its turn's directory in its environment. */
  async #killOrphans(): Promise<void> {
    const turns = `${join(this.options.workerDir, 'turns')}/`;
    const left = await killMarked([`${turnMark}=${turns}`, `SUZUMIO_TURN_DIR=${turns}`], orphanPatienceMs);
    if (left.length === 0) return;
    throw new AttemptFailure(
      'container-start-failed',
      `Processes of an earlier worker do not end: ${left.join(', ')}.`,
    );
  }
}

function startFailed(error: unknown): AttemptFailure {
  return new AttemptFailure('container-start-failed', 'The runner could not be started as a process.', {
    cause: error,
  });
}
