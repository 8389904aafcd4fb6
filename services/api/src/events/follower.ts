import type { ServerResponse } from 'node:http';
import type { EventCursor, StreamReset } from '@suzumio/shared/model/http-api';

/** One open event stream: where its client is, and whether it takes more. */
export class Follower {
  /** The epoch of what it knows; unknown while it knows nothing, or came with a bare number. */
  epoch: number | undefined;
  /** The last event that it was sent. */
  seq: number;
  #ready = true;

  /** @param onReady called when a client that was too slow has taken what it was sent */
  constructor(
    private readonly response: ServerResponse,
    from: EventCursor,
    onReady: () => void,
  ) {
    this.epoch = from.epoch;
    this.seq = from.seq;
    response.on('drain', () => {
      this.#ready = true;
      onReady();
    });
    response.writeHead(200, {
      'content-type': 'text/event-stream; charset=utf-8',
      // For proxies: an event is of use only at once.
      'x-accel-buffering': 'no',
    });
    this.#write('retry: 1000\n\n');
  }

  /** False while the client has not taken what it was sent: nothing is kept for it meanwhile. */
  get ready(): boolean {
    return this.#ready;
  }

  /** Sends events up to `seq`. */
  send(frames: string, seq: number): void {
    this.seq = seq;
    this.#write(frames);
  }

  /** Tells the client to forget what it knows, and starts over. */
  reset(epoch: number): void {
    this.epoch = epoch;
    const data: StreamReset = { epoch };
    this.send(`id: ${epoch}-0\nevent: reset\ndata: ${JSON.stringify(data)}\n\n`, 0);
  }

  /** Says nothing, so that nobody on the way takes the connection for dead. */
  beat(): void {
    if (this.#ready) this.#write(':\n\n');
  }

  end(): void {
    this.response.end();
  }

  #write(text: string): void {
    this.#ready = this.response.write(text);
  }
}
