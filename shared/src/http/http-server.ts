import { createServer, type RequestListener } from 'node:http';
import type { AddressInfo } from 'node:net';
import { messageOf, SuzumioError } from '../errors/suzumio-error.js';
import { type BodyPace, SlowBodies } from './slow-bodies.js';
import { refuseUnreadable } from './unreadable-requests.js';

export interface HttpServerOptions {
  host: string;
  /** 0 takes any free port. */
  port: number;
  /** How slowly bodies may arrive. */
  bodyPace?: BodyPace;
  /** How long `stop` waits for answers in flight. @default 5_000 */
  stopWithinMs?: number;
}

export interface HttpServer {
  /** The port that is really listened on. */
  readonly port: number;
  readonly url: string;
  /** Takes no further connection, lets answers in flight finish within the bound, then cuts what is left. */
  stop(): Promise<void>;
}

const headersTimeoutMs = 10_000;
/** Longer than clients keep their idle connections, so that a request never meets a connection being closed. */
const keepAliveTimeoutMs = 65_000;

/**
 * Serves `handler`.
 *
 * @throws SuzumioError `settings-invalid` when the address cannot be listened on
 */
export async function startHttpServer(handler: RequestListener, options: HttpServerOptions): Promise<HttpServer> {
  const { host, stopWithinMs = 5_000 } = options;
  let stopping: Promise<void> | undefined;
  const server = createServer({
    headersTimeout: headersTimeoutMs,
    // Bodies are judged by their pace, not by how long they are.
    requestTimeout: 0,
    keepAliveTimeout: keepAliveTimeoutMs,
    connectionsCheckingInterval: 1_000,
    noDelay: true,
    // Whoever names no host is refused with those that name a foreign one.
    requireHostHeader: false,
  });
  refuseUnreadable(server);
  const slowBodies = new SlowBodies(options.bodyPace);
  server.on('request', (request, response) => {
    slowBodies.watch(request, response);
    response.once('close', () => {
      // Only after this event does Node count the connection as idle.
      if (stopping) setImmediate(() => server.closeIdleConnections());
    });
    if (stopping) response.setHeader('connection', 'close');
    handler(request, response);
  });

  await new Promise<void>((resolve, reject) => {
    server.once('error', (error) => {
      slowBodies.close();
      const message = `Cannot listen on ${host}:${options.port}: ${messageOf(error)}.`;
      reject(new SuzumioError('settings-invalid', message, {}, { cause: error }));
    });
    server.listen(options.port, host, resolve);
  });
  const { port } = server.address() as AddressInfo;

  function stop(): Promise<void> {
    stopping ??= new Promise((resolve, reject) => {
      const cut = setTimeout(() => server.closeAllConnections(), stopWithinMs);
      server.close((error) => {
        clearTimeout(cut);
        slowBodies.close();
        if (error) reject(error);
        else resolve();
      });
      server.closeIdleConnections();
    });
    return stopping;
  }

  return { port, url: `http://${host.includes(':') ? `[${host}]` : host}:${port}`, stop };
}
