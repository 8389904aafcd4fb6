import type { Server, ServerResponse } from 'node:http';
import type { Duplex } from 'node:stream';

/** The bounds of a connection that ends. */
export interface LastAnswersBounds {
  /** @default 300_000 */
  withinMs?: number | undefined;
  /** The most that a client may send after what ended the connection. @default 16 MiB */
  maxSurplusBytes?: number | undefined;
}

interface Connection {
  readonly unfinished: Set<ServerResponse>;
  ends: boolean;
  /** What follows the end of an answer that is waited for. */
  next?: (() => void) | undefined;
  surplusBytes: number;
}

/**
 * Lets the answers of a connection finish before it is closed, within bounds. A client that closes its sending side is
 * sent the rest of answers that have begun; where none has, it is taken to have left, and so is one that follows a
 * stream of events.
 */
export class LastAnswers {
  readonly #connections = new WeakMap<Duplex, Connection>();
  readonly #withinMs: number;
  readonly #maxSurplusBytes: number;

  constructor(server: Server, { withinMs = 300_000, maxSurplusBytes = 16 * 1024 * 1024 }: LastAnswersBounds = {}) {
    this.#withinMs = withinMs;
    this.#maxSurplusBytes = maxSurplusBytes;
    // Otherwise Node closes its side, too, as soon as the client has closed its own, in the midst of an answer.
    Object.assign(server, { httpAllowHalfOpen: true });
    server.on('request', ({ socket }, response) => {
      const connection = this.#of(socket);
      connection.unfinished.add(response);
      response.once('close', () => {
        connection.unfinished.delete(response);
        connection.next?.();
      });
    });
    server.on('connection', (socket: Duplex) => {
      socket.once('end', () => this.end(socket, hasBegun, () => socket.end()));
    });
  }

  /** Calls `close` when no answer `isAwaited`. Only the first call for a connection counts. */
  end(socket: Duplex, isAwaited: (response: ServerResponse) => boolean, close: () => void): void {
    const connection = this.#of(socket);
    if (connection.ends) return;
    connection.ends = true;
    const cut = setTimeout(() => socket.destroy(), this.#withinMs).unref();
    socket.once('close', () => {
      clearTimeout(cut);
      // Node forgets those that wait for their turn on a connection that was to be a tunnel.
      for (const response of connection.unfinished) response.destroy();
    });
    connection.next = () => {
      const responses = [...connection.unfinished];
      const isEndless = responses.some(mayBeEndless);
      if (!isEndless && responses.some(isAwaited)) return;
      connection.next = undefined;
      if (isEndless) socket.destroy();
      else close();
    };
    connection.next();
  }

  /** Tells the first answer that there is room again, on a connection of which Node has let go. */
  resume(socket: Duplex): void {
    const [first] = this.#of(socket).unfinished;
    first?.emit('drain');
  }

  /** Counts what came after what ended the connection. */
  ignore(socket: Duplex, sizeBytes: number): void {
    const connection = this.#of(socket);
    connection.surplusBytes += sizeBytes;
    if (connection.surplusBytes > this.#maxSurplusBytes) socket.destroy();
  }

  #of(socket: Duplex): Connection {
    const known = this.#connections.get(socket);
    if (known) return known;
    const connection: Connection = { unfinished: new Set(), ends: false, surplusBytes: 0 };
    this.#connections.set(socket, connection);
    return connection;
  }
}

const hasBegun = (response: ServerResponse): boolean => response.headersSent;

function mayBeEndless(response: ServerResponse): boolean {
  if (!response.headersSent || response.writableEnded || response.hasHeader('content-length')) return false;
  const type = response.getHeader('content-type');
  return type === undefined || /^text\/event-stream\b/i.test(String(type));
}
