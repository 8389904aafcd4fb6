import type { IncomingMessage } from 'node:http';
import type { Socket } from 'node:net';

/** A connection that has brought so many chunks is not read on in the same turn of the loop. */
const mostInTurn = 256;

/** So many may be of any length. With more, the average has a minimum. */
const mostShort = 2_048;
const leastAverageBytes = 12;

interface Brought {
  chunks: number;
  bytes: number;
}

/**
 * Bounds the chunks of bodies that one connection brings in one turn of the loop. Node hands over each chunk by itself: one read
 * brings thousands of one byte, and a sender that is quick enough is read again and again.
 */
export class BodyChunks {
  /** What each connection has brought in this turn. */
  readonly #inTurn = new Map<Socket, Brought>();

  /** Has the connection wait for the next turn, or refused as unreadable where its chunks are far more than their bytes justify. */
  watch(request: IncomingMessage): void {
    // A body of a known length is read in few pieces.
    if (request.headers['transfer-encoding'] === undefined) return;
    const { socket } = request;
    const push = request.push.bind(request);
    const read = request._read.bind(request);
    let isRefused = false;
    const isDue = () => (this.#inTurn.get(socket)?.chunks ?? 0) >= mostInTurn;
    request.push = (chunk: Buffer | null, encoding) => {
      // Of what is read already.
      if (isRefused) return false;
      const wantsMore = push(chunk, encoding);
      if (chunk === null) return wantsMore;
      const { chunks, bytes } = this.#count(socket, chunk.length);
      isRefused = chunks > mostShort && bytes < chunks * leastAverageBytes;
      if (isRefused) stopParsing(socket);
      return wantsMore && !isDue();
    };
    // Node would discard the rest of a body, once its answer is sent, without counting it.
    Object.assign(request, { _dump: () => request.removeAllListeners('data').resume() });
    request._read = (size) => {
      if (isDue()) setImmediate(read, size);
      else read(size);
    };
  }

  #count(socket: Socket, bytes: number): Brought {
    if (this.#inTurn.size === 0) setImmediate(() => this.#inTurn.clear());
    const brought = this.#inTurn.get(socket) ?? { chunks: 0, bytes: 0 };
    brought.chunks += 1;
    brought.bytes += bytes;
    this.#inTurn.set(socket, brought);
    return brought;
  }
}

/** The code of the error that a server is told of for such a connection. */
export const tooManyChunks = 'HPE_PAUSED';

/** Node has no documented way. Where its parser has another form, the connection is closed without an answer. */
function stopParsing(socket: Socket & { parser?: { pause?: () => void } | null }): void {
  if (!socket.parser?.pause) {
    socket.destroy();
    return;
  }
  socket.parser.pause();
  // What is read after it would be an error each time.
  socket.pause();
}
