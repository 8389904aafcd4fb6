import { spawn } from 'node:child_process';
import { readFile } from 'node:fs/promises';
import type { Duplex } from 'node:stream';
import { dirname } from 'node:path';
import { messageOf, SuzumioError } from '@suzumio/contract/errors/suzumio-error';
import { beginningOf } from '@suzumio/protocol/cut-text';
import { answerOf, ModuleLines, type PackAnswer } from '@suzumio/protocol/toolpacks/answer';
import type { ControllerMemory } from './controller-memory.js';
import type { ControllerOrder, FromController, ToController } from './controller-protocol.js';

/** How often it is looked at how much memory a process has. */
const lookMs = 50;
const pageBytes = 4096;

/** Limits the processor time, and has the system end this process before any other where memory is used up. */
const limited = '{ echo 1000 >/proc/self/oom_score_adj; } 2>/dev/null; ulimit -t "$0" && exec /usr/bin/env -i "$@"';

/** A module that never ends, and whose ToolHost was killed, has used its processor time so much later than its time. */
const spareSeconds = 5;

/** How often one call may ask something of its project. */
const mostAsks = 1_000;

export interface ControllerCall {
  /** The compiled `controller-child.ts`. */
  readonly program: string;
  /** What it may read: the toolpack's own files. */
  readonly directory: string;
  readonly order: ControllerOrder;
  readonly limitMs: number;
  readonly memory: ControllerMemory;
  /** Answers what it asks. */
  readonly reply: (asked: Extract<FromController, { ask: unknown }>) => Promise<unknown>;
  /** Aborted when the ToolHost stops. */
  readonly signal: AbortSignal;
}

/**
 * Has one call carried out by a toolpack's controller module, in a process of its own. It has nothing of the ToolHost's environment,
 * reads nothing but the toolpack's files, writes nothing but those that the toolpack keeps, and starts no process. What Node does
 * not keep from it is the network.
 *
 * @throws SuzumioError `toolpack-failed`, `toolpack-timeout`, `toolpack-answer-invalid`; the reason of `signal`
 */
export async function callController(call: ControllerCall): Promise<PackAnswer> {
  const { program, directory, order, limitMs, memory, signal } = call;
  const { tool, root } = order;
  signal.throwIfAborted();
  const child = spawn(
    '/bin/sh',
    [
      ...['-c', limited, String(Math.ceil(limitMs / 1000) + spareSeconds), process.execPath],
      '--permission',
      ...[directory, root, dirname(program)].map((path) => `--allow-fs-read=${path}`),
      `--allow-fs-write=${root}`,
      `--max-old-space-size=${String(memory.heapMb)}`,
      `--max-semi-space-size=${String(memory.semiSpaceMb)}`,
      '--no-warnings',
      program,
    ],
    { cwd: directory, env: {}, detached: true, stdio: ['ignore', 'ignore', 'pipe', 'pipe'] },
  );
  const { promise, resolve, reject } = Promise.withResolvers<PackAnswer>();
  child.once('error', (error) => reject(failed(tool, `its process could not start: ${error.message}`)));
  // Without a process, as where no descriptor is left, it may have no channel, either.
  if (child.pid === undefined) return promise;
  const channel = child.stdio[3] as Duplex;
  const printed = lastOf(child.stderr);
  const late = setTimeout(() => {
    const message = `${tool} has not answered within ${String(limitMs / 1000)} s, and was ended. What it has done until then stands.`;
    reject(new SuzumioError('toolpack-timeout', message, { tool }));
  }, limitMs);
  const looks = setInterval(() => {
    memoryOf(child.pid).then((bytes) => {
      if (bytes <= memory.processMb * 1024 ** 2) return;
      reject(failed(tool, `its process took more than ${String(memory.processMb)} MiB of memory`));
    }, reject);
  }, lookMs);
  const stopped = () => reject(signal.reason);
  signal.addEventListener('abort', stopped);
  // Once all that it has said is read.
  child.once('close', (code, by) => {
    const how = `its process ended (${by ?? `exit code ${String(code)}`})`;
    // What Node prints then is its own stack.
    const last = by === 'SIGABRT' ? `${String(memory.heapMb)} MiB of memory may be used up` : printed();
    reject(failed(tool, [how, last].filter((part) => part !== '').join(': ')));
  });
  channel.on('error', () => undefined);
  const conversation = new Conversation(call, channel, resolve, reject);
  channel.on('data', (chunk: Buffer) => conversation.take(chunk));
  conversation.tell(order);
  try {
    return await promise;
  } finally {
    clearTimeout(late);
    clearInterval(looks);
    signal.removeEventListener('abort', stopped);
    channel.destroy();
    try {
      process.kill(-child.pid, 'SIGKILL');
    } catch {
      // It has ended by itself.
    }
  }
}

/** How many bytes of memory a process has for itself alone, without its program; 0 where the system does not say. */
async function memoryOf(pid: number | undefined): Promise<number> {
  const statm = await readFile(`/proc/${String(pid)}/statm`, 'utf8').catch(() => '');
  const [, resident = 0, shared = 0] = statm.split(' ').map(Number);
  return (resident - shared) * pageBytes;
}

class Conversation {
  readonly #lines = new ModuleLines();
  #asks = 0;

  constructor(
    private readonly call: ControllerCall,
    private readonly channel: Duplex,
    private readonly resolve: (answer: PackAnswer) => void,
    private readonly reject: (error: unknown) => void,
  ) {}

  tell(message: ControllerOrder | ToController): void {
    if (!this.channel.destroyed) this.channel.write(`${JSON.stringify(message)}\n`);
  }

  take(chunk: Buffer): void {
    const { tool } = this.call.order;
    try {
      for (const line of this.#lines.take(chunk)) this.#hear(JSON.parse(line) as FromController);
    } catch {
      this.reject(failed(tool, 'its process said what cannot be read, or too much of it'));
    }
  }

  #hear(said: FromController): void {
    const { tool } = this.call.order;
    if ('ask' in said) this.#reply(said).catch((error: unknown) => this.reject(error));
    else if ('failed' in said) this.reject(failed(tool, said.failed));
    else if ('invalid' in said) this.reject(invalid(tool, said.invalid));
    else {
      const answer = answerOf(said.answer);
      if ('fault' in answer) this.reject(invalid(tool, answer.fault));
      else this.resolve(answer);
    }
  }

  async #reply(asked: Extract<FromController, { ask: unknown }>): Promise<void> {
    this.#asks += 1;
    if (this.#asks > mostAsks) {
      this.reject(failed(this.call.order.tool, `it asks its project more than ${String(mostAsks)} times`));
      return;
    }
    try {
      this.tell({ value: (await this.call.reply(asked)) ?? null });
    } catch (error) {
      const { code } = error as { code?: unknown };
      this.tell({ error: { ...(typeof code === 'string' ? { code } : {}), message: messageOf(error) } });
    }
  }
}

/** The end of what a process prints, for people who look for what went wrong. */
function lastOf(stream: NodeJS.ReadableStream | null): () => string {
  let last = '';
  stream?.on('data', (chunk: Buffer) => (last = `${last}${chunk.toString('utf8')}`.slice(-1_000)));
  return () => last.trim();
}

/** A module may say of itself whatever it likes, and as much. */
const told = (what: unknown): string => beginningOf(String(what), 8_000);

function failed(tool: string, why: unknown): SuzumioError {
  return new SuzumioError('toolpack-failed', `${tool} failed at the controller: ${told(why)}`, { tool });
}

function invalid(tool: string, fault: unknown): SuzumioError {
  const message = `The controller's answer to ${tool} is not {output, title?, metadata?}: ${told(fault)}`;
  return new SuzumioError('toolpack-answer-invalid', message, { tool });
}
