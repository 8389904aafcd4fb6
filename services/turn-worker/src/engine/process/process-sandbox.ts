import type { ChildProcess } from 'node:child_process';
import { once } from 'node:events';
import { constants } from 'node:os';
import { setTimeout as sleep } from 'node:timers/promises';
import { errnoOf } from '../../files/errno.js';
import type { LogTail } from '../log-tail.js';
import { killMarked } from './marked-processes.js';
import type { Sandbox, SandboxEnd } from '../turn-engine.js';

/** How long what has left the runner's group may take to end. */
const strayPatienceMs = 2_000;
/** How long the outputs may stay open after the runner's end. */
const lastWordsMs = 500;

/** A runner in a process group of its own. */
export class ProcessSandbox implements Sandbox {
  readonly id: string;
  readonly ended: Promise<SandboxEnd>;
  /** Never aborted: there is no engine to report a disturbance. */
  readonly disturbed: AbortSignal = new AbortController().signal;
  readonly #closed: Promise<unknown>;

  constructor(
    private readonly child: ChildProcess,
    private readonly tail: LogTail,
    /** A variable in the environment of all that runs for its turn. */
    mark: string,
  ) {
    this.id = String(child.pid);
    this.#closed = once(child, 'close');
    this.ended = new Promise((resolve) => {
      child.once('exit', (code, signal) => {
        // Its children are killed with it.
        this.#killGroup();
        const end = { exitCode: code ?? 128 + (signal ? constants.signals[signal] : 0), ...(signal ? { signal } : {}) };
        killMarked([mark], strayPatienceMs).then(
          () => resolve(end),
          () => resolve(end),
        );
      });
    });
  }

  /** Not measured: a process of the worker's own user is trusted with its disk. */
  unlinkedBytes(): Promise<number> {
    return Promise.resolve(0);
  }

  /** Its programs could read all that the worker can. */
  whileReadable<Result>(work: () => Promise<Result>): Promise<Result> {
    return work();
  }

  async kill(): Promise<void> {
    this.#killGroup();
    await this.ended;
  }

  async log(): Promise<Buffer> {
    await Promise.race([this.#closed, sleep(lastWordsMs)]);
    return this.tail.bytes();
  }

  release(): void {
    this.child.stdout?.destroy();
    this.child.stderr?.destroy();
  }

  #killGroup(): void {
    try {
      if (this.child.pid !== undefined) process.kill(-this.child.pid, 'SIGKILL');
    } catch (error) {
      // The group has ended.
      if (errnoOf(error) !== 'ESRCH') throw error;
    }
  }
}
