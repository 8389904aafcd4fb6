import type { IncomingMessage, ServerResponse } from 'node:http';
import type { Socket } from 'node:net';

/** How many requests of one connection may be unanswered. Few clients send a request before the one before it is answered. */
const mostUnanswered = 8;

/**
 * Bounds the requests of a connection that are not answered yet. One read brings thousands of short ones, and Node hands over all of
 * them before it does anything else.
 */
export class UnansweredRequests {
  readonly #ofConnections = new WeakMap<Socket, number>();

  /** @returns false where its connection has too many of them: it is closed, and nothing is answered there any more */
  take({ socket }: IncomingMessage, response: ServerResponse): boolean {
    const unanswered = (this.#ofConnections.get(socket) ?? 0) + 1;
    this.#ofConnections.set(socket, unanswered);
    if (unanswered > mostUnanswered) {
      endParsing(socket);
      socket.destroy();
      return false;
    }
    response.once('close', () => this.#ofConnections.set(socket, (this.#ofConnections.get(socket) ?? 1) - 1));
    return true;
  }
}

/**
 * A closed connection is parsed on to the end of what was read. What follows a change of protocol is not. Node has no documented
 * way to stop: where its parser has another form, the rest is parsed, and nothing of it is answered.
 */
function endParsing(socket: Socket & { parser?: { onIncoming: () => number } | null }): void {
  const changedProtocol = 2;
  if (socket.parser) socket.parser.onIncoming = () => changedProtocol;
}
