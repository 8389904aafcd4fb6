import { type ChildProcess, spawn } from 'node:child_process';
import { once } from 'node:events';
import type { Duplex, Readable } from 'node:stream';
import { setTimeout as sleep } from 'node:timers/promises';
import { fileURLToPath } from 'node:url';
import { beginningOf } from '@suzumio/protocol/cut-text';
import { maxModuleLineBytes, ModuleLines, type PackAnswer } from '@suzumio/protocol/toolpacks/answer';
import type { SandboxRefusalCode } from '@suzumio/protocol/sandbox-tools/refusals';
import { SandboxRefusal } from '../sandbox/paths/refusal.js';
import type { FromModule, ModuleFacts, ModuleFault, ToModule } from './module-protocol.js';

/** The program of the process: beside the runner's, or built from this source. */
const program = fileURLToPath(
  new URL(import.meta.url.endsWith('.ts') ? '../../dist/bundle/toolpack.mjs' : './toolpack.mjs', import.meta.url),
);

/** How long the channel of a process that has ended may stay open. */
const lastWordsMs = 300;

/** How much of what broke a process its call is told. */
const mostReasonChars = 4_000;

/** How much memory a module's objects may take. */
const heapMb = 512;

export interface ModuleOptions {
  readonly module: string;
  readonly facts: ModuleFacts;
  readonly cwd: string;
  readonly env: Readonly<Record<string, string | undefined>>;
  /** How long a call may take. */
  readonly callMs: number;
  /** How much of what it prints goes to the turn's log. */
  readonly loggedBytes: number;
  readonly log: (bytes: Buffer) => void;
  /** Asks the toolpack's controller, for a call. */
  readonly ask: (call: number, what: unknown) => Promise<PackAnswer>;
}

interface OpenCall {
  resolve(answer: PackAnswer): void;
  reject(error: SandboxRefusal): void;
  readonly tool: string;
}

/**
 * The process in which a toolpack's runner module carries out calls. It is none of the runner's own, so that a handler that
 * throws, hangs or floods ends its call, and not the turn.
 */
export class ModuleProcess {
  readonly #child: ChildProcess;
  readonly #channel: Duplex;
  readonly #lines = new ModuleLines();
  readonly #open = new Map<number, OpenCall>();
  #logged = 0;
  #over: string | undefined;

  constructor(private readonly options: ModuleOptions) {
    const { module, facts, cwd, env } = options;
    this.#child = spawn(process.execPath, [`--max-old-space-size=${String(heapMb)}`, program], {
      cwd,
      env,
      // A group of its own, so that what it starts is ended with it.
      detached: true,
      stdio: ['ignore', 'pipe', 'pipe', 'pipe'],
    });
    this.#channel = this.#child.stdio[3] as Duplex;
    for (const printed of [this.#child.stdout, this.#child.stderr]) this.#drain(printed);
    this.#channel.on('data', (chunk: Buffer) => this.#take(chunk));
    // What it does not take any more is told by its end.
    this.#channel.on('error', () => undefined);
    this.#child.once('error', (error) => this.#end(`its process could not start: ${error.message}`));
    const closed = once(this.#channel, 'close');
    this.#child.once('exit', (code, signal) => {
      const how = signal ?? `exit code ${String(code)}`;
      const why = signal === 'SIGABRT' ? `, as it does when ${String(heapMb)} MB of memory are used up` : '';
      const end = () => this.#end(`its process ended (${how})${why}`);
      // What it has said last may not have been read yet.
      Promise.race([closed, sleep(lastWordsMs, undefined, { ref: false })]).then(end, end);
    });
    this.#tell({ load: { module, facts } });
  }

  get isOver(): boolean {
    return this.#over !== undefined;
  }

  /**
   * Has a tool's handler called.
   *
   * @param call is no other call's
   * @throws SandboxRefusal `input-invalid`, `toolpack-failed`, `toolpack-timeout`, `toolpack-answer-invalid`, or what its controller was refused with
   */
  async call(call: number, tool: string, input: unknown): Promise<PackAnswer> {
    const { callMs } = this.options;
    const bytes = Buffer.byteLength(JSON.stringify({ call, tool, input }));
    if (bytes > maxModuleLineBytes) {
      const message = `The input of ${tool} has ${String(bytes)} bytes, and may have ${String(maxModuleLineBytes)}.`;
      throw new SandboxRefusal('input-invalid', message);
    }
    const { promise, resolve, reject } = Promise.withResolvers<PackAnswer>();
    const late = setTimeout(() => {
      const message = `${tool} has not answered within ${String(callMs / 1000)} s, and was ended.`;
      reject(new SandboxRefusal('toolpack-timeout', message));
      this.#open.delete(call);
      this.#end(`${tool} took too long, and its process was ended`);
    }, callMs);
    this.#open.set(call, { resolve, reject, tool });
    try {
      if (this.#over === undefined) this.#tell({ call, tool, input });
      else reject(failed(tool, this.#over));
      return await promise;
    } finally {
      clearTimeout(late);
      this.#open.delete(call);
    }
  }

  /** Ends it, with all that it started. */
  close(): void {
    this.#end('the turn ended');
  }

  #take(chunk: Buffer): void {
    try {
      for (const line of this.#lines.take(chunk)) this.#hear(JSON.parse(line) as FromModule);
    } catch {
      this.#end('it said what cannot be read, or too much of it');
    }
  }

  #hear(said: FromModule): void {
    if ('ask' in said) {
      this.#answer(said).catch(() => this.#end('it could not be answered'));
      return;
    }
    if ('broken' in said) {
      this.#end(`its process broke: ${beginningOf(said.broken, mostReasonChars)}`);
      return;
    }
    const call = this.#open.get(said.done);
    if (call === undefined) return;
    if ('error' in said.answer) call.reject(faultOf(call.tool, said.answer.error));
    else call.resolve(said.answer);
  }

  async #answer({ ask: told, call, what }: Extract<FromModule, { ask: number }>): Promise<void> {
    try {
      this.#tell({ told, answer: await this.options.ask(call, what) });
    } catch (error) {
      const { code, message } = error as ModuleFault;
      this.#tell({ told, answer: { error: { code, message } } });
    }
  }

  #tell(message: ToModule): void {
    if (this.#over === undefined) this.#channel.write(`${JSON.stringify(message)}\n`);
  }

  #drain(printed: Readable | null): void {
    printed?.on('data', (chunk: Buffer) => {
      const part = chunk.subarray(0, this.options.loggedBytes - this.#logged);
      this.#logged += part.length;
      if (part.length > 0) this.options.log(part);
    });
    printed?.on('error', () => undefined);
  }

  #end(why: string): void {
    if (this.#over !== undefined) return;
    this.#over = why;
    for (const call of this.#open.values()) call.reject(failed(call.tool, why));
    this.#open.clear();
    this.#channel.destroy();
    try {
      if (this.#child.pid !== undefined) process.kill(-this.#child.pid, 'SIGKILL');
    } catch {
      // Nothing of it runs any more.
    }
  }
}

const passedOn: readonly string[] = ['toolpack-timeout', 'toolpack-answer-invalid', 'outcome-unknown'];

function faultOf(tool: string, { code, message }: ModuleFault): SandboxRefusal {
  if (code === undefined || !passedOn.includes(code)) return failed(tool, message);
  return new SandboxRefusal(code as SandboxRefusalCode, `${tool} failed: ${message}`);
}

function failed(tool: string, why: string): SandboxRefusal {
  return new SandboxRefusal('toolpack-failed', `${tool} failed: ${why}`);
}
