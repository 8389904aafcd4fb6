import type { ServerResponse } from 'node:http';
import type { EventCursor, StreamDeleted, StreamReset } from '@suzumio/contract/operations/events';
import type { Follower, Frame } from './follower.js';

/** Where a stream begins, and which events it sends. */
export interface StreamOptions {
  from: EventCursor;
  /** Which events are sent. */
  wants: (frame: Omit<Frame, 'seq' | 'text'>) => boolean;
  /** Sent first. */
  greeting?: string;
  /** Ends the stream. */
  signal: AbortSignal;
}

/** One open event stream: its client's position, and whether it is ready for more. */
export class StreamFollower implements Follower {
  epoch: number | undefined;
  #seq: number;
  #ready = true;
  readonly #wants: StreamOptions['wants'];

  /** @param onReady called when a slow client has taken what it was sent */
  constructor(
    private readonly response: ServerResponse,
    { from, wants, greeting = '' }: StreamOptions,
    onReady: () => void,
  ) {
    this.epoch = from.epoch;
    this.#seq = from.seq;
    this.#wants = wants;
    response.on('drain', () => {
      this.#ready = true;
      onReady();
    });
    response.writeHead(200, {
      'content-type': 'text/event-stream; charset=utf-8',
      // Tells proxies not to buffer events.
      'x-accel-buffering': 'no',
    });
    this.#write(`retry: 1000\n\n${greeting}`);
  }

  get seq(): number {
    return this.#seq;
  }

  get ready(): boolean {
    return this.#ready;
  }

  take(frames: readonly Frame[], seq: number): void {
    this.#seq = seq;
    const wanted = frames.filter(this.#wants);
    if (wanted.length > 0) this.#write(wanted.reduce((text, frame) => text + frame.text, ''));
  }

  /** Tells the client that its events are void, and starts over. */
  reset(epoch: number): void {
    this.epoch = epoch;
    this.#seq = 0;
    const data: StreamReset = { epoch };
    this.#write(`id: ${epoch}-0\nevent: reset\ndata: ${JSON.stringify(data)}\n\n`);
  }

  /** Sends a comment, so that proxies do not close an idle connection. */
  beat(): void {
    if (this.#ready) this.#write(':\n\n');
  }

  end(): void {
    this.response.end();
  }

  endDeleted(): void {
    const data: StreamDeleted = {};
    this.response.end(`event: deleted\ndata: ${JSON.stringify(data)}\n\n`);
  }

  #write(text: string): void {
    this.#ready = this.response.write(text);
  }
}
