import { SandboxRefusal } from '../paths/refusal.js';
import type { Command, Exit } from './command.js';
import type { OutputFile } from './output-file.js';

/** A command that runs while its turn goes on. */
export interface BackgroundProcess {
  readonly handle: string;
  readonly command: Command;
  readonly output: OutputFile;
  readonly startedAt: number;
  /** How it ended; undefined while it runs. */
  exit?: Exit;
  /** The byte up to which its output was read. */
  readUpTo: number;
}

/** The commands that run in the background of a turn. They end with it. */
export class BackgroundProcesses {
  readonly #all = new Map<string, BackgroundProcess>();

  /** @param most how many may run at a time */
  constructor(private readonly most = 8) {}

  /** @throws SandboxRefusal `too-many-processes` */
  refuseIfFull(): void {
    const running = [...this.#all.values()].filter(({ exit }) => exit === undefined).map(({ handle }) => handle);
    if (running.length < this.most) return;
    throw new SandboxRefusal(
      'too-many-processes',
      `${running.length} commands run in the background, the most there may be: ${running.join(', ')}. Stop one with shell.stop.`,
    );
  }

  add(handle: string, command: Command, output: OutputFile): void {
    const added: BackgroundProcess = { handle, command, output, startedAt: performance.now(), readUpTo: 0 };
    this.#all.set(handle, added);
    command.exited.then(
      (exit) => (added.exit = exit),
      () => (added.exit = { exitCode: null, signal: null, outOfMemory: false, durationMs: 0 }),
    );
  }

  /** @throws SandboxRefusal `handle-unknown` */
  get(handle: string): BackgroundProcess {
    const found = this.#all.get(handle);
    if (found) return found;
    const known = [...this.#all.keys()].join(', ');
    throw new SandboxRefusal(
      'handle-unknown',
      `No background command has the handle ${JSON.stringify(handle)}: ${known === '' ? 'none runs' : `there are ${known}`}. ` +
        'Background commands end with their turn, and when it has to be run again; start it anew.',
    );
  }

  /** Ends them all. */
  async close(): Promise<void> {
    const all = [...this.#all.values()];
    this.#all.clear();
    await Promise.all(
      all.map(async ({ command, output }) => {
        await command.end();
        await output.close();
      }),
    );
  }
}
