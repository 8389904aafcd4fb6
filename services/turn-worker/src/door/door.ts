import { chmod } from 'node:fs/promises';
import { type Agent, createServer, type IncomingMessage, type Server, type ServerResponse } from 'node:http';
import type { Duplex } from 'node:stream';
import { maxToolBodyBytes } from '@suzumio/shared/protocol/door';
import { problemMediaType } from '@suzumio/shared/protocol/problem';
import { toProblem } from '@suzumio/shared/errors/problem';
import { SuzumioError } from '@suzumio/shared/errors/suzumio-error';
import type { Logger } from '@suzumio/shared/observability/logger';
import { forward } from './forward.js';

export interface DoorOptions {
  /** The ToolHost's listener for runners. */
  runnerUrl: string;
  /** Connections to it, kept between requests and shared by the doors of a cell. */
  agent: Agent;
  logger: Logger;
  /** The largest file that is published. @default 256 MiB */
  maxContentBytes?: number;
  /** Requests in flight at a time; more are answered 503. @default 16 */
  maxInFlight?: number;
}

const content = /^\/content\/[0-9a-f]{64}$/;
const maxConnections = 64;
const headersTimeoutMs = 10_000;
const requestTimeoutMs = 300_000;

/** The largest body of what may pass a door; undefined for anything else. */
function allowance(method: string, url: string, maxContentBytes: number): number | undefined {
  if (method === 'POST' && url === '/tool') return maxToolBodyBytes;
  if (method === 'PUT' && content.test(url)) return maxContentBytes;
  if (method === 'HEAD' && content.test(url)) return 0;
  return undefined;
}

/**
 * The only way out of one attempt's container: an HTTP server that passes the runner's own routes on to the ToolHost
 * and nothing else. It adds no credential; what a request may do is the ToolHost's to decide, by its token.
 */
export class Door {
  readonly #server: Server;
  #inFlight = 0;

  constructor(private readonly options: DoorOptions) {
    this.#server = createServer({
      headersTimeout: headersTimeoutMs,
      requestTimeout: requestTimeoutMs,
      keepAliveTimeout: 0,
    });
    this.#server.maxConnections = maxConnections;
    this.#server.on('request', (request, response) => this.#answer(request, response));
    // The default handler writes to a socket that a FramedStream is not.
    this.#server.on('clientError', (_error, socket) => socket.destroy());
  }

  /** Serves a unix socket at `path`, for whoever can see the directory that it is in. */
  async listen(path: string): Promise<void> {
    await new Promise<void>((resolve, reject) => {
      this.#server.once('error', reject);
      this.#server.listen(path, resolve);
    });
    await chmod(path, 0o666);
  }

  /** Serves one connection that came in by another way. */
  serve(connection: Duplex): void {
    this.#server.emit('connection', connection);
  }

  /** Cuts every connection. */
  async close(): Promise<void> {
    this.#server.closeAllConnections();
    if (!this.#server.listening) return;
    await new Promise<void>((resolve) => this.#server.close(() => resolve()));
  }

  #answer(request: IncomingMessage, response: ServerResponse): void {
    this.#inFlight += 1;
    this.#pass(request, response)
      .catch((error: unknown) => {
        this.options.logger.debug({ err: error }, 'a request did not pass the door');
        refuse(response, error);
      })
      .finally(() => (this.#inFlight -= 1));
  }

  async #pass(request: IncomingMessage, response: ServerResponse): Promise<void> {
    const { runnerUrl, agent, maxContentBytes = 256 * 1024 * 1024, maxInFlight = 16 } = this.options;
    const maxBytes = allowance(request.method ?? '', request.url ?? '', maxContentBytes);
    if (maxBytes === undefined)
      throw new SuzumioError('not-found', 'The door leads to POST /tool and /content/<sha256> only.');
    if (Number(request.headers['content-length'] ?? 0) > maxBytes) throw tooLarge(maxBytes);
    if (this.#inFlight > maxInFlight)
      throw new SuzumioError('server-unreachable', `More than ${maxInFlight} requests at a time.`);
    try {
      await forward(request, response, { runnerUrl, agent, maxBytes });
    } catch (error) {
      if (error instanceof RangeError) throw tooLarge(maxBytes);
      throw new SuzumioError(
        'server-unreachable',
        'The ToolHost cannot be reached at the moment.',
        {},
        { cause: error },
      );
    }
  }
}

function tooLarge(maxBytes: number): SuzumioError {
  return new SuzumioError('body-too-large', `The body is larger than ${maxBytes} bytes.`);
}

/** Answers a problem and ends the connection, whose rest is of no interest. */
function refuse(response: ServerResponse, error: unknown): void {
  if (response.headersSent || response.destroyed) {
    response.destroy();
    return;
  }
  const problem = toProblem(error);
  response.writeHead(problem.status, { 'content-type': problemMediaType, connection: 'close' });
  response.end(JSON.stringify(problem));
}
