import { createServer, type RequestListener, type Server } from 'node:http';

/**
 * An HTTP server for programs of the same container. A client that closes its sending side gets the rest of its answers;
 * by default, Node closes its own side, too, in the midst of them.
 */
export function createLocalServer(listener: RequestListener): Server {
  return Object.assign(createServer(listener), { httpAllowHalfOpen: true });
}
