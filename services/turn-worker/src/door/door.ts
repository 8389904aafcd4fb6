import { createHash, timingSafeEqual } from 'node:crypto';
import { chmod } from 'node:fs/promises';
import { createServer, type IncomingMessage, type Server, type ServerResponse } from 'node:http';
import type { AddressInfo, ListenOptions, Socket } from 'node:net';
import { type Duplex, Readable } from 'node:stream';
import { maxContentBytes as largestContent } from '@suzumio/protocol/content';
import { maxCallBytes, maxCallMembers, maxToolBodyBytes } from '@suzumio/protocol/door';
import { chatPath, maxChatBytes, modelsPath, stepHeader } from '@suzumio/protocol/model-chat';
import { livePath, liveReport, maxLiveBytes } from '@suzumio/protocol/live';
import { maxPackBytes, pushPath } from '@suzumio/protocol/shared-repository';
import { supportPath } from '@suzumio/protocol/toolpacks/support';
import { problemMediaType } from '@suzumio/protocol/problem';
import { toProblem } from '@suzumio/contract/errors/problem';
import { isSuzumioError, SuzumioError } from '@suzumio/contract/errors/suzumio-error';
import { countMembers } from '@suzumio/protocol/count-members';
import { BodyChunks } from '@suzumio/runtime/http/body-chunks';
import { UnansweredRequests } from '@suzumio/runtime/http/unanswered-requests';
import { refuseUnreadable } from '@suzumio/runtime/http/unreadable-requests';
import { parse } from '@suzumio/runtime/http/validate';
import type { Logger } from '@suzumio/runtime/observability/logger';
import type { PortRange } from '../config.js';
import { errnoOf } from '../files/errno.js';
import type { KeptConnections } from '../toolhost/kept-connections.js';
import type { LiveReports } from './live-reports.js';
import { forward } from './forward.js';
import type { SandboxSteps } from './sandbox-steps.js';

export interface DoorOptions {
  /** The ToolHost's listener for runners. */
  runnerUrl: string;
  /** Sends requests over kept-alive connections, which the doors of a cell share. */
  exchange: KeptConnections['exchange'];
  /** Decides when requests are sent. */
  steps: Pick<SandboxSteps, 'pass' | 'isOpen'>;
  /** The attempt's own tool token: only requests with it pass. */
  token: string;
  /** Completes the body of a tool call, where the runner's side of the door does not. */
  complete?: ((call: Buffer) => Promise<Buffer>) | undefined;
  /** Called before each request after which Suzumio's own runner may write in the workspace. */
  beforeWrites?: (() => Promise<void>) | undefined;
  /** Takes what commands in the sandbox print, for those who follow the turn. @default nobody does */
  live?: Pick<LiveReports, 'take'>;
  /** Called for each request without the token. */
  onRefused?: ((code: RefusalCode) => void) | undefined;
  logger: Logger;
  /** The largest file that is published. @default 256 MiB */
  maxContentBytes?: number;
  /** Requests in flight at a time; more are answered 503 `attempt-busy`. @default 16 */
  maxInFlight?: number;
}

export type RefusalCode = 'unauthenticated' | 'token-rejected';

const toolRoutes: ReadonlySet<string> = new Set(['/tool', '/tool/begin', '/tool/end']);
const content = /^\/content\/[0-9a-f]{64}$/;
const pack = /^\/git\/packs\/[0-9a-f]{64}$/;
const sharedState = /^\/git(?:\?after=\d{1,15})?$/;
/** A push without its pack. */
const maxPushBytes = 64 * 1024;
const maxConnections = 64;
/** The limit of connections from one address: on a network others can connect, too. */
const maxConnectionsOfOne = 16;
const headersTimeoutMs = 10_000;
const requestTimeoutMs = 300_000;
const checkEveryMs = 1_000;

/** `Retry-After` of a request above the limit. */
const busySeconds = 1;

/** The longest call that is completed here: one that names a file by its path is shorter. */
const maxCompletedBytes = 65_536;

/** The largest body on a route that passes the door; undefined for any other route. */
function allowance(method: string, url: string, maxContentBytes: number): number | undefined {
  if (method === 'POST' && toolRoutes.has(url)) return maxToolBodyBytes;
  if (method === 'POST' && url === livePath) return maxLiveBytes;
  if (method === 'POST' && url === supportPath) return maxCallBytes;
  if (method === 'POST' && url === chatPath) return maxChatBytes;
  if (method === 'PUT' && content.test(url)) return maxContentBytes;
  if (method === 'POST' && url === pushPath) return maxPushBytes;
  if (method === 'PUT' && pack.test(url)) return Math.min(maxPackBytes, maxContentBytes);
  if (method === 'GET' && (pack.test(url) || sharedState.test(url))) return 0;
  if (method === 'GET' && url === modelsPath) return 0;
  if ((method === 'GET' || method === 'HEAD') && content.test(url)) return 0;
  return undefined;
}

/** Whether the runner acts on the answer in its workspace: takes a step there, or writes what it fetched. */
const announcesWrites = ({ method, url = '' }: IncomingMessage): boolean =>
  method === 'POST' ? url === '/tool/begin' : method === 'GET' && content.test(url);

/**
 * The only way out of an attempt's container: an HTTP server that forwards the runner's routes to the ToolHost, and
 * nothing else, for requests with the attempt's own token. It adds no credential; the ToolHost decides what a request
 * may do.
 */
export class Door {
  readonly #server: Server;
  readonly #token: Buffer;
  /** Open connections by remote address. */
  readonly #peers = new Map<string, number>();
  readonly #unanswered = new UnansweredRequests();
  readonly #bodyChunks = new BodyChunks();
  #inFlight = 0;
  #refused = false;

  constructor(private readonly options: DoorOptions) {
    this.#token = digest(options.token);
    this.#server = createServer({
      headersTimeout: headersTimeoutMs,
      requestTimeout: requestTimeoutMs,
      connectionsCheckingInterval: checkEveryMs,
      keepAliveTimeout: 0,
      // The token is required for everything, so the host name does not matter.
      requireHostHeader: false,
    });
    this.#server.maxConnections = maxConnections;
    this.#server.on('connection', (socket: Socket) => this.#count(socket));
    refuseUnreadable(this.#server);
    this.#server.on('request', (request, response) => this.#answer(request, response));
  }

  /** Listens on a unix socket at `path`, for all processes that can see its directory. */
  async listen(path: string): Promise<void> {
    await this.#listen({ path });
    await chmod(path, 0o666);
  }

  /**
   * Listens on TCP at an address of this host, on the first free port of `ports`, or on any.
   *
   * @returns the port
   */
  async listenOn(host: string, ports: PortRange = { first: 0, last: 0 }): Promise<number> {
    for (let port = ports.first; ; port += 1) {
      try {
        await this.#listen({ host, port });
        return (this.#server.address() as AddressInfo).port;
      } catch (error) {
        if (errnoOf(error) !== 'EADDRINUSE' || port >= ports.last) throw error;
      }
    }
  }

  /** Serves one connection from elsewhere. */
  serve(connection: Duplex): void {
    this.#server.emit('connection', connection);
  }

  /** Closes every connection. */
  async close(): Promise<void> {
    this.#server.closeAllConnections();
    if (!this.#server.listening) return;
    await new Promise<void>((resolve) => this.#server.close(() => resolve()));
  }

  async #listen(where: ListenOptions): Promise<void> {
    await new Promise<void>((resolve, reject) => {
      this.#server.once('error', reject);
      this.#server.listen(where, () => {
        this.#server.off('error', reject);
        resolve();
      });
    });
  }

  #count(socket: Socket): void {
    const from = socket.remoteAddress;
    if (from === undefined) return;
    const open = (this.#peers.get(from) ?? 0) + 1;
    this.#peers.set(from, open);
    socket.once('close', () => {
      const left = (this.#peers.get(from) ?? 0) - 1;
      if (left > 0) this.#peers.set(from, left);
      else this.#peers.delete(from);
    });
    if (open > maxConnectionsOfOne) socket.destroy();
  }

  #answer(request: IncomingMessage, response: ServerResponse): void {
    if (!this.#unanswered.take(request, response)) return;
    this.#bodyChunks.watch(request);
    this.#inFlight += 1;
    this.#pass(request, response)
      .catch((error: unknown) => {
        this.#note(error);
        refuse(response, error);
      })
      .finally(() => (this.#inFlight -= 1));
  }

  async #pass(request: IncomingMessage, response: ServerResponse): Promise<void> {
    const maxBytes = this.#admit(request);
    if (request.url === livePath) {
      await this.#takeReport(request, response);
      return;
    }
    if (announcesWrites(request)) await this.options.beforeWrites?.();
    try {
      await this.#forward(request, response, maxBytes);
    } catch (error) {
      if (error instanceof RangeError) throw tooLarge(maxBytes);
      if (isSuzumioError(error)) throw error;
      throw new SuzumioError(
        'server-unreachable',
        'The ToolHost cannot be reached at the moment.',
        {},
        { cause: error },
      );
    }
  }

  /**
   * Checks what a request's line and headers say.
   *
   * @returns how long its body may be
   * @throws SuzumioError `not-found`, `attempt-busy`, and as the token and the length are refused
   */
  #admit(request: IncomingMessage): number {
    const { maxContentBytes = largestContent, maxInFlight = 16 } = this.options;
    const maxBytes = allowance(request.method ?? '', request.url ?? '', maxContentBytes);
    if (maxBytes === undefined)
      throw new SuzumioError(
        'not-found',
        `The door leads to POST /tool, /content/<sha256>, /git, ${chatPath} and ${modelsPath} only.`,
      );
    this.#requireToken(request);
    if (Number(request.headers['content-length'] ?? 0) > maxBytes) throw tooLarge(maxBytes);
    // Those that wait for the end of a step must leave room for it.
    if (this.#inFlight > (request.url === '/tool/end' ? 2 * maxInFlight : maxInFlight))
      throw new SuzumioError(
        'attempt-busy',
        `${maxInFlight} requests of this attempt are under way; ask again when one is answered.`,
        { retryAfterSeconds: busySeconds },
      );
    return maxBytes;
  }

  /** Passes a request on. Of a call, the body is read first where it has to be completed, or to be searched for a step. */
  async #forward(request: IncomingMessage, response: ServerResponse, maxBytes: number): Promise<void> {
    const { runnerUrl, exchange, steps, complete } = this.options;
    const isCall = request.url === '/tool';
    const named = request.headers[stepHeader] !== undefined;
    // Only the body says whether a call names its step, unless its runner says so in a header, too.
    const looksForStep = isCall && !named && steps.isOpen;
    const mostBytes = looksForStep ? maxCallBytes : complete && isCall ? maxCompletedBytes : undefined;
    const call = mostBytes === undefined ? undefined : await shortBody(request, mostBytes);
    const unnamed = looksForStep ? namesNoStep(call?.whole) : !named && request.url === chatPath;
    const completed = call?.whole && call.whole.length <= maxCompletedBytes && (await complete?.(call.whole));
    const body = completed || call?.whole;
    await forward(request, response, { runnerUrl, exchange, steps, unnamed, maxBytes, body, source: call?.source });
  }

  /** Answers a report itself: it is none of the ToolHost's routes for runners. */
  async #takeReport(request: IncomingMessage, response: ServerResponse): Promise<void> {
    const { whole } = await shortBody(request, maxLiveBytes);
    if (whole === undefined) throw tooLarge(maxLiveBytes);
    const report = parse(liveReport, jsonIn(whole), 'report');
    const answer = (await this.options.live?.take(report)) ?? { followed: false };
    response.writeHead(200, { 'content-type': 'application/json' }).end(JSON.stringify(answer));
  }

  #requireToken(request: IncomingMessage): void {
    const shown = /^Bearer ([\x21-\x7e]{1,500})$/.exec(request.headers.authorization ?? '')?.[1];
    if (shown === undefined)
      throw new SuzumioError(
        'unauthenticated',
        'The door needs the token of the turn, sent as "Authorization: Bearer TOKEN".',
      );
    if (!timingSafeEqual(digest(shown), this.#token))
      throw new SuzumioError('token-rejected', 'This token opens nothing here.');
  }

  #note(error: unknown): void {
    const { logger, onRefused } = this.options;
    if (!isSuzumioError(error, 'unauthenticated', 'token-rejected')) {
      logger.debug({ err: error }, 'a request did not pass the door');
      return;
    }
    onRefused?.(error.code as RefusalCode);
    // Logged once: repeated attempts would fill the log.
    if (!this.#refused) logger.warn({ code: error.code }, "requests without the attempt's token come to its door");
    this.#refused = true;
  }
}

/**
 * Whether a call names no step, or its number, which is no name. One that is too long, has too many members or is no JSON is
 * refused in any case. It is read just as by the ToolHost, which carries out what it can read.
 */
function namesNoStep(call: Buffer | undefined): boolean {
  const read = call && (jsonIn(call) as { step?: unknown } | null | undefined);
  return typeof read?.step !== 'string' || read.step.startsWith('seq.');
}

/** Undefined for what is no JSON, or too costly to parse: on this loop, the leases of all attempts are kept. */
function jsonIn(body: Buffer): unknown {
  if (countMembers(body, maxCallMembers) > maxCallMembers) return undefined;
  try {
    return JSON.parse(new TextDecoder().decode(body));
  } catch {
    return undefined;
  }
}

const digest = (token: string): Buffer => createHash('sha256').update(token).digest();

function tooLarge(maxBytes: number): SuzumioError {
  return new SuzumioError('body-too-large', `The body is larger than ${maxBytes} bytes.`);
}

/** Answers with a problem and ends the connection, without reading the rest. */
function refuse(response: ServerResponse, error: unknown): void {
  if (response.headersSent || response.destroyed) {
    response.destroy();
    return;
  }
  const problem = toProblem(error);
  const { retryAfterSeconds } = isSuzumioError(error) ? error.details : {};
  response.writeHead(problem.status, {
    'content-type': problemMediaType,
    ...(typeof retryAfterSeconds === 'number' ? { 'retry-after': String(retryAfterSeconds) } : {}),
    connection: 'close',
  });
  response.end(JSON.stringify(problem));
}

/** A body of up to `maxBytes`, in full; or a longer one as a stream that buffers no more than that. */
async function shortBody(
  request: IncomingMessage,
  maxBytes: number,
): Promise<{ whole: Buffer; source?: undefined } | { whole?: undefined; source: Readable }> {
  const held: Buffer[] = [];
  let sizeBytes = 0;
  for await (const chunk of request.iterator({ destroyOnReturn: false }) as AsyncIterable<Buffer>) {
    held.push(chunk);
    sizeBytes += chunk.length;
    if (sizeBytes > maxBytes) return { source: Readable.from(all(held, request)) };
  }
  return { whole: Buffer.concat(held) };
}

async function* all(held: readonly Buffer[], rest: IncomingMessage): AsyncGenerator<Buffer> {
  yield* held;
  for await (const chunk of rest as AsyncIterable<Buffer>) yield chunk;
}
