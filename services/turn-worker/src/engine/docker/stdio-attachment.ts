import type { Container } from 'dockerode';
import { PassThrough, type Duplex } from 'node:stream';
import { setTimeout as sleep } from 'node:timers/promises';
import { Multiplexer } from '@suzumio/protocol/stdio-frames';
import type { Logger } from '@suzumio/runtime/observability/logger';
import { Demux } from './demux.js';

export interface AttachmentOptions {
  container: Container;
  /** Resolves when the container has ended. */
  ended: Promise<unknown>;
  onConnection: (connection: Duplex) => void;
  /** Receives the container's standard error: the turn's log. */
  onLog: (chunk: Buffer) => void;
  logger: Logger;
}

const againAfterMs = 100;
const lastWordsMs = 1_000;

/**
 * A container's standard input and output as its door. A broken connection is replaced by attaching again, until it is
 * closed.
 */
export class StdioAttachment {
  #stream: Duplex | undefined;
  #closed = false;
  /** Aborted when nothing more is to be read. */
  readonly #over = new AbortController();
  #kept: Promise<void> | undefined;

  constructor(private readonly options: AttachmentOptions) {}

  /** Attaches for the first time; call it before the container starts, so that no output is missed. */
  async open(): Promise<void> {
    const stream = await this.#attach();
    this.#kept = this.#keep(stream);
  }

  /** Call it after the container's end: remaining output is read first, within a bound. */
  async close(): Promise<void> {
    this.#closed = true;
    // The engine ends its side once ours is ended.
    this.#stream?.end();
    await Promise.race([this.#kept, sleep(lastWordsMs)]);
    this.#over.abort();
    this.#stream?.destroy();
    await this.#kept;
  }

  async #attach(): Promise<Duplex> {
    const streams = { stdin: true, stdout: true, stderr: true };
    // The types know no more than a ReadWriteStream; it is the socket of the upgraded connection.
    const stream = (await this.options.container.attach({
      ...streams,
      stream: true,
      hijack: true,
      abortSignal: this.#over.signal,
    })) as unknown as Duplex;
    this.#stream = stream;
    if (this.#over.signal.aborted) stream.destroy();
    return stream;
  }

  async #keep(first: Duplex): Promise<void> {
    const over = this.options.ended.then(() => true);
    let stream: Duplex | undefined = first;
    for (;;) {
      try {
        stream ??= await this.#attach();
        await this.#serve(stream);
      } catch (error) {
        this.options.logger.debug({ err: error }, 'attaching to the container failed');
      }
      // Most streams end with the container, which the engine reports a moment later.
      if (this.#closed || (await Promise.race([over, sleep(againAfterMs, false)]))) return;
      stream = undefined;
    }
  }

  /** Serves until the connection ends or fails. */
  async #serve(stream: Duplex): Promise<void> {
    const input = new PassThrough();
    const demux = new Demux({ stdout: (chunk) => input.write(chunk), stderr: this.options.onLog });
    const multiplexer = new Multiplexer({ input, output: stream, onStream: this.options.onConnection });
    try {
      for await (const chunk of stream as AsyncIterable<Buffer>) demux.write(chunk);
    } finally {
      multiplexer.close();
      input.destroy();
    }
  }
}
