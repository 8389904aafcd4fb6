import { type ChildProcessByStdio, spawn } from 'node:child_process';
import { randomBytes } from 'node:crypto';
import { constants } from 'node:os';
import type { Readable } from 'node:stream';
import { setTimeout as sleep } from 'node:timers/promises';
import { findProgram } from './find-program.js';
import { memoryKills } from './memory-kills.js';
import { endTree, markName, type ProcessTree, processesOf, processesStarted, signalGroup } from './process-tree.js';

type Environment = Readonly<Record<string, string | undefined>>;

/** How a command ended: with a code, or by a signal. */
export interface Exit {
  readonly exitCode: number | null;
  readonly signal: string | null;
  /** Whether it was killed because the memory of the container was used up. */
  readonly outOfMemory: boolean;
  readonly durationMs: number;
}

/** Takes what a command prints. What it returns is waited for: a slow reader slows the command. */
export type Sink = (chunk: Buffer, stream: 'stdout' | 'stderr') => Promise<void>;

/** No pager, no question, no colour: nobody is at a terminal. */
const withoutTerminal: Environment = { TERM: 'dumb', PAGER: 'cat', GIT_PAGER: 'cat', GIT_TERMINAL_PROMPT: '0' };

const graceMs = 2000;
/** How long the pipes of a command that has ended are read while somebody else holds them. */
const pipesMs = 300;

/**
 * What the leading shell does. It outlives SIGTERM, so that the command has its time to end, which gets the signal as
 * always; what it would say of that itself is not the command's; what follows the command keeps it from becoming that.
 */
const leader = 'trap : TERM; exec 3>&2 2>/dev/null; (exec "$@" 2>&3 3>&-); exit "$?"';

/**
 * A shell command that runs, with all that it starts: a session of its own, led by a small shell, so that what kills its
 * parent does not kill us.
 */
export class Command {
  readonly exited: Promise<Exit>;
  readonly #tree: ProcessTree;
  readonly #pipes: Promise<unknown>;
  readonly #child: ChildProcessByStdio<null, Readable, Readable>;

  private constructor(shell: string, command: string, cwd: string, env: Environment, sink: Sink) {
    const mark = randomBytes(12).toString('hex');
    const startedBefore = processesStarted();
    const killsBefore = memoryKills();
    const started = performance.now();
    this.#child = spawn('/bin/sh', ['-c', leader, 'sh', shell, '-c', command], {
      cwd,
      env: { ...withoutTerminal, ...env, [markName]: mark },
      detached: true,
      stdio: ['ignore', 'pipe', 'pipe'],
    });
    // Without a process there is an error, and -0 would be our own group.
    this.#tree = { leader: this.#child.pid ?? Number.MAX_SAFE_INTEGER, mark, startedBefore };
    this.#pipes = Promise.all([
      drain(this.#child.stdout, (chunk) => sink(chunk, 'stdout')),
      drain(this.#child.stderr, (chunk) => sink(chunk, 'stderr')),
    ]);
    this.exited = new Promise((resolve, reject) => {
      this.#child.once('error', reject);
      this.#child.once('exit', (code, signal) => {
        const by = signal ?? signalIn(code);
        const outOfMemory = by === 'SIGKILL' && memoryKills() > killsBefore;
        resolve({ exitCode: code, signal: by, outOfMemory, durationMs: performance.now() - started });
      });
    });
    this.exited.catch(() => undefined);
  }

  /** Starts a command with the image's `bash`, or its `sh`. */
  static start(command: string, cwd: string, env: Environment, sink: Sink): Command {
    return new Command(findProgram('bash', env) ?? '/bin/sh', command, cwd, env, sink);
  }

  /** How many of its processes run. */
  get running(): number {
    return processesOf(this.#tree).length;
  }

  /** Asks it to end, and kills what has not ended two seconds later. */
  async stop(): Promise<void> {
    signalGroup(this.#tree, 'SIGTERM');
    const isOver = this.exited.then(() => true);
    await Promise.race([isOver, sleep(graceMs, false, { ref: false })]);
    await this.end();
  }

  /**
   * Ends all that still runs of it, and reads what it printed to the end.
   *
   * @returns the names of the processes that still ran
   */
  async end(): Promise<string[]> {
    // What ends by itself is given the time to.
    if (this.#child.exitCode !== null) await this.#drained();
    const ended = await endTree(this.#tree);
    await this.exited.catch(() => undefined);
    await this.#drained();
    this.#child.stdout.destroy();
    this.#child.stderr.destroy();
    await this.#pipes;
    return ended;
  }

  async #drained(): Promise<void> {
    await Promise.race([this.#pipes, sleep(pipesMs, undefined, { ref: false })]);
  }
}

async function drain(stream: Readable, take: (chunk: Buffer) => Promise<void>): Promise<void> {
  try {
    for await (const chunk of stream) await take(chunk as Buffer);
  } catch {
    // It was destroyed: somebody else holds its other end.
  }
}

/** The signal that a shell tells of by its exit code. */
function signalIn(code: number | null): string | null {
  if (code === null || code <= 128) return null;
  return Object.entries(constants.signals).find(([, number]) => number === code - 128)?.[0] ?? null;
}
