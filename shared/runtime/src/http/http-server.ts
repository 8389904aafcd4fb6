import { createServer, type RequestListener } from 'node:http';
import type { AddressInfo } from 'node:net';
import { messageOf, SuzumioError } from '@suzumio/contract/errors/suzumio-error';
import { type BodyPace, SlowBodies } from './slow-bodies.js';
import { BodyChunks } from './body-chunks.js';
import { readTarget } from './request-target.js';
import { UnansweredRequests } from './unanswered-requests.js';
import { refuseRequest, refuseUnreadable } from './unreadable-requests.js';

export interface HttpServerOptions {
  host: string;
  /** 0 takes any free port. */
  port: number;
  /** Whether any free port does where that one is in use. @default false */
  orAnyFree?: boolean;
  /** The slowest pace of bodies. */
  bodyPace?: BodyPace;
  /** How long `stop` waits for responses in flight. @default 5_000 */
  stopWithinMs?: number;
}

export interface HttpServer {
  /** The port that is listened on. */
  readonly port: number;
  readonly url: string;
  /** Accepts no more connections, lets responses in flight finish within the bound, then closes the rest. */
  stop(): Promise<void>;
}

const headersTimeoutMs = 10_000;
/** Longer than clients keep idle connections, so that no request meets a closing connection. */
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
    // Bodies are limited by pace, not by total time.
    requestTimeout: 0,
    keepAliveTimeout: keepAliveTimeoutMs,
    connectionsCheckingInterval: 1_000,
    noDelay: true,
    // A request without a host is refused like one with a foreign host.
    requireHostHeader: false,
  });
  refuseUnreadable(server);
  const slowBodies = new SlowBodies(options.bodyPace);
  const unanswered = new UnansweredRequests();
  const bodyChunks = new BodyChunks();
  server.on('request', (request, response) => {
    if (!unanswered.take(request, response)) return;
    slowBodies.watch(request, response);
    bodyChunks.watch(request);
    response.once('close', () => {
      // Node counts the connection as idle only after this event.
      if (stopping) setImmediate(() => server.closeIdleConnections());
    });
    if (stopping) response.setHeader('connection', 'close');
    try {
      readTarget(request);
    } catch (error) {
      refuseRequest(response, error);
      return;
    }
    handler(request, response);
  });

  const listen = (at: number) =>
    new Promise<void>((resolve, reject) => {
      server.once('error', reject);
      server.listen(at, host, resolve);
    });
  try {
    await listen(options.port).catch((error: unknown) => {
      if (options.orAnyFree !== true || (error as NodeJS.ErrnoException).code !== 'EADDRINUSE') throw error;
      return listen(0);
    });
  } catch (error) {
    slowBodies.close();
    throw cannotListen(host, options.port, error as NodeJS.ErrnoException);
  }
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

function cannotListen(host: string, port: number, error: NodeJS.ErrnoException): SuzumioError {
  const [why, next] = listenFaults[error.code ?? ''] ?? [messageOf(error), 'choose another address or port'];
  return new SuzumioError('settings-invalid', `Cannot listen on ${host}:${port}: ${why}.`, { next }, { cause: error });
}

const listenFaults: Partial<Record<string, readonly [why: string, next: string]>> = {
  EADDRINUSE: ['the address is in use (EADDRINUSE)', 'stop what listens there, or choose another port'],
  EACCES: ['it is not for this user (EACCES): ports below 1024 need more rights', 'choose another port'],
  EADDRNOTAVAIL: ['the address is none of this machine (EADDRNOTAVAIL)', 'choose another one, such as 127.0.0.1'],
};
