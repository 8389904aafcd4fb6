import type { Container } from 'dockerode';
import { setTimeout as sleep } from 'node:timers/promises';
import { LogTail } from '../log-tail.js';
import type { Sandbox, SandboxEnd } from '../turn-engine.js';
import { Demux } from './demux.js';
import { engineFailure, statusOf } from './engine-errors.js';
import type { StdioAttachment } from './stdio-attachment.js';

export interface DockerSandboxParts {
  container: Container;
  ended: Promise<SandboxEnd>;
  disturbed: AbortSignal;
  /** Polls the engine whether the container has ended. */
  look: () => Promise<void>;
  /** Bytes in unlinked open files. */
  unlinkedBytes: () => Promise<number>;
  /** The attached standard streams, where they are the door; `log` then collects standard error. */
  attachment?: { stdio: StdioAttachment; log: LogTail } | undefined;
  maxLogBytes: number;
  /** Whether its programs are paused while its files are read. */
  pauses: boolean;
  /** Whether the container was started with the shim. */
  wrapped: boolean;
  release: (outcome: 'completed' | 'failed') => void;
}

const killPatienceMs = 20_000;
const lookAfterMs = 500;

/** A started container. */
export class DockerSandbox implements Sandbox {
  readonly id: string;
  readonly ended: Promise<SandboxEnd>;
  #log: Promise<Buffer> | undefined;

  constructor(private readonly parts: DockerSandboxParts) {
    this.id = parts.container.id;
    this.ended = parts.ended.then((end) => this.#explain(end));
  }

  get disturbed(): AbortSignal {
    return this.parts.disturbed;
  }

  unlinkedBytes(): Promise<number> {
    return this.parts.unlinkedBytes();
  }

  async whileReadable<Result>(work: () => Promise<Result>): Promise<Result> {
    const { container, pauses } = this.parts;
    if (!pauses) return work();
    await container.pause();
    try {
      return await work();
    } finally {
      // Where it was killed meanwhile there is nothing to go on.
      await container.unpause().catch((error: unknown) => {
        if (![404, 409].includes(statusOf(error) ?? 0)) throw engineFailure(error, 'unpause the container');
      });
    }
  }

  async kill(): Promise<void> {
    const over = this.parts.ended.then(() => true);
    for (let waitedMs = 0; waitedMs < killPatienceMs; waitedMs += lookAfterMs) {
      const failed = await this.parts.container.kill({ signal: 'SIGKILL' }).then(() => undefined, asError);
      // 409 and 404 mean that nothing runs, which an event or a poll reports as well.
      if (await Promise.race([over, sleep(lookAfterMs, false)])) return;
      await this.parts.look();
      if (failed && waitedMs + lookAfterMs >= killPatienceMs) throw engineFailure(failed, 'kill the container');
    }
  }

  log(): Promise<Buffer> {
    return (this.#log ??= this.#readLog());
  }

  release(outcome: 'completed' | 'failed'): void {
    this.parts.release(outcome);
  }

  async #readLog(): Promise<Buffer> {
    const { container, attachment, maxLogBytes } = this.parts;
    if (attachment) {
      await attachment.stdio.close();
      return attachment.log.bytes();
    }
    const tail = new LogTail(maxLogBytes);
    const take = (chunk: Buffer) => tail.write(chunk);
    const mixed = await container.logs({ stdout: true, stderr: true }).catch((error: unknown) => {
      if (statusOf(error) === 404) return Buffer.alloc(0);
      throw engineFailure(error, 'read the log');
    });
    new Demux({ stdout: take, stderr: take }).write(mixed);
    return tail.bytes();
  }

  /** `docker-init` starts the program, so a missing `node` shows only in its output. */
  async #explain(end: SandboxEnd): Promise<SandboxEnd> {
    if (!this.parts.wrapped || (end.exitCode !== 127 && end.exitCode !== 126)) return end;
    const said = (await this.log().catch(() => Buffer.alloc(0))).toString('utf8');
    return /exec node failed/.test(said) ? { ...end, withoutNode: true } : end;
  }
}

function asError(error: unknown): unknown {
  return error ?? new Error('unknown');
}
