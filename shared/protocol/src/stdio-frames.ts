import type { Duplex, Readable, Writable } from 'node:stream';
import { FramedStream } from './framed-stream.js';
import { encodeFrame, type Frame, FrameDecoder, type FrameType, frameTypes } from './stdio-frame-codec.js';

/** Options of a {@link Multiplexer}. */
export interface MultiplexerOptions {
  /** The other side's output, such as an attached container's stdout. */
  readonly input: Readable;
  /** The other side's input, such as an attached container's stdin. */
  readonly output: Writable;
  /**
   * Makes this the serving side: called with each stream that the other side opens, ready for
   * `server.emit('connection', stream)`.
   */
  readonly onStream?: (stream: Duplex) => void;
  /** The interval of the serving side's heartbeats. */
  readonly aliveEveryMs?: number;
  /** How long a stream may lack heartbeats before it counts as lost. */
  readonly silenceMs?: number;
}

const maxStreams = 64;
/** Data waits for the output to drain, so only a peer that provokes replies without reading them reaches this. */
const maxBacklogBytes = 1024 * 1024;
/** How many checks without a heartbeat make a stream count as lost. */
const looksPerSilence = 4;
const nothing = Buffer.alloc(0);

/**
 * Carries many HTTP connections over one pair of byte streams. Each stream has its own credit, so that a slow reader
 * delays no other and no buffer grows without bound.
 *
 * The serving side (the worker) creates a new one at each attachment, which resets every stream that the other side
 * (the container) has open from an earlier one, so that its requests fail at once and are retried.
 */
export class Multiplexer {
  readonly #streams = new Map<number, FramedStream>();
  readonly #decoder = new FrameDecoder();
  readonly #input: Readable;
  readonly #output: Writable;
  readonly #onStream: ((stream: Duplex) => void) | undefined;
  readonly #timer: NodeJS.Timeout;
  /** Streams with pending data, in round-robin order. */
  readonly #senders = new Set<FramedStream>();
  #lastId = 0;
  #greeted = false;
  #closed: Error | undefined;

  constructor(options: MultiplexerOptions) {
    this.#input = options.input;
    this.#output = options.output;
    this.#onStream = options.onStream;
    const { silenceMs = 10_000, aliveEveryMs = 2_000 } = options;
    this.#timer = setInterval(
      () => this.#tick(),
      this.#onStream === undefined ? silenceMs / looksPerSilence : aliveEveryMs,
    );
    this.#timer.unref();
    this.#input.on('data', this.#receive).on('error', this.#fail).on('end', this.#ended).on('close', this.#ended);
    this.#output.on('drain', this.#flush).on('error', this.#fail).on('close', this.#ended);
    if (this.#onStream !== undefined) this.#write({ type: frameTypes.hello, stream: 0, number: 0, payload: nothing });
  }

  /** Opens a connection to the serving side. It fails at once where this multiplexer is closed. */
  open(): Duplex {
    this.#lastId += 1;
    const stream = this.#add(this.#lastId);
    if (this.#closed === undefined) stream.sendOpen();
    else stream.destroy(this.#closed);
    return stream;
  }

  /** Ends every stream. The underlying streams stay open: they belong to the caller. */
  close(reason: Error = new Error('the door was closed')): void {
    if (this.#closed !== undefined) return;
    this.#closed = reason;
    clearInterval(this.#timer);
    this.#input.off('data', this.#receive).off('end', this.#ended).off('close', this.#ended);
    this.#output.off('drain', this.#flush).off('close', this.#ended);
    for (const stream of this.#streams.values()) stream.lose(reason);
  }

  readonly #fail = (error: Error): void => this.close(error);
  readonly #ended = (): void => this.close(new Error('the connection of the door ended'));

  readonly #receive = (chunk: Buffer): void => {
    for (const frame of this.#decoder.decode(chunk)) this.#take(frame);
  };

  #take(frame: Frame): void {
    if (frame.type === frameTypes.hello) {
      if (this.#onStream === undefined) this.#greet();
      return;
    }
    const stream = this.#streams.get(frame.stream);
    if (stream !== undefined) stream.receive(frame);
    else if (frame.type === frameTypes.open && this.#closed === undefined) this.#accept(frame);
    // Any other frame is a late one of an ended stream.
  }

  #accept(frame: Frame): void {
    if (this.#onStream === undefined || this.#streams.size >= maxStreams) {
      this.#write({ type: frameTypes.reset, stream: frame.stream, number: 0, payload: nothing });
      return;
    }
    const stream = this.#add(frame.stream);
    stream.receive(frame);
    if (!stream.destroyed) this.#onStream(stream);
  }

  /** The first greeting may cross the first opened streams; each later one is another attachment's. */
  #greet(): void {
    if (!this.#greeted) {
      this.#greeted = true;
      return;
    }
    const reason = new Error('the door was taken over by another worker');
    for (const stream of this.#streams.values()) stream.destroy(reason);
  }

  #add(id: number): FramedStream {
    const stream = new FramedStream({
      send: (type: FrameType, number: number, payload: Buffer) => this.#write({ type, stream: id, number, payload }),
      wantsToSend: () => {
        this.#senders.add(stream);
        this.#flush();
      },
      gone: () => {
        this.#streams.delete(id);
        this.#senders.delete(stream);
      },
    });
    this.#streams.set(id, stream);
    return stream;
  }

  /** One frame of each sender in turn, as long as the output takes it. */
  readonly #flush = (): void => {
    for (const stream of this.#senders) {
      if (this.#output.writableNeedDrain) return;
      this.#senders.delete(stream);
      if (stream.sendSome()) this.#senders.add(stream);
    }
  };

  #write(frame: Frame): void {
    if (this.#closed !== undefined || this.#output.destroyed || this.#output.writableEnded) return;
    this.#output.write(encodeFrame(frame));
    if (this.#output.writableLength > maxBacklogBytes)
      this.close(new Error('the other side of the door reads nothing'));
  }

  #tick(): void {
    for (const stream of this.#streams.values()) {
      if (this.#onStream !== undefined) stream.sendAlive();
      else if (stream.lookForSilence() > looksPerSilence) stream.destroy(new Error('the door does not answer'));
    }
  }
}
