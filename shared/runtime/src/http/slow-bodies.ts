import type { IncomingMessage, ServerResponse } from 'node:http';
import { toProblem } from '@suzumio/contract/errors/problem';
import { SuzumioError } from '@suzumio/contract/errors/suzumio-error';
import { problemMediaType } from '@suzumio/protocol/problem';

/** The slowest pace of a body. */
export interface BodyPace {
  /** A body that is behind for this long is refused. @default 10_000 */
  graceMs?: number | undefined;
  /** The required pace. @default 4_096 */
  bytesPerSecond?: number | undefined;
}

interface ArrivingBody {
  request: IncomingMessage;
  response: ServerResponse;
  /** Bytes of its connection counted so far. */
  countedBytes: number;
  /** How long it may still be behind. */
  creditMs: number;
}

/**
 * Refuses bodies that hold a connection without progress. Elapsed time reduces a body's credit, and arriving bytes
 * restore it, up to the initial credit: so a body may take any time while it keeps its pace, and a head start does not
 * allow a stall later. While the server itself does not read, no credit is lost.
 */
export class SlowBodies {
  readonly #arriving = new Set<ArrivingBody>();
  readonly #graceMs: number;
  readonly #bytesPerMs: number;
  readonly #everyMs: number;
  readonly #timer: NodeJS.Timeout;
  #lookedAtMs = performance.now();

  constructor({ graceMs = 10_000, bytesPerSecond = 4_096 }: BodyPace = {}) {
    this.#graceMs = graceMs;
    this.#bytesPerMs = bytesPerSecond / 1_000;
    this.#everyMs = Math.min(1_000, graceMs / 5);
    this.#timer = setInterval(() => this.#look(), this.#everyMs);
    this.#timer.unref();
  }

  /** Watches the body of a request, if it has one. */
  watch(request: IncomingMessage, response: ServerResponse): void {
    const { headers, socket } = request;
    if (headers['transfer-encoding'] === undefined && Number(headers['content-length'] ?? 0) === 0) return;
    const body = { request, response, countedBytes: socket.bytesRead, creditMs: this.#graceMs };
    this.#arriving.add(body);
    request.once('close', () => this.#arriving.delete(body));
  }

  close(): void {
    clearInterval(this.#timer);
    this.#arriving.clear();
  }

  #look(): void {
    const now = performance.now();
    // Time in which this process was paused does not count.
    const passedMs = Math.min(now - this.#lookedAtMs, 2 * this.#everyMs);
    this.#lookedAtMs = now;
    for (const body of this.#arriving) {
      const { request, response } = body;
      if (request.complete) {
        this.#arriving.delete(body);
        continue;
      }
      const arrivedBytes = request.socket.bytesRead - body.countedBytes;
      body.countedBytes += arrivedBytes;
      // The rest of the body is not needed once the request is answered.
      const regainedMs = response.writableEnded ? 0 : arrivedBytes / this.#bytesPerMs;
      if (!response.writableEnded && isFull(request)) continue;
      body.creditMs = Math.min(this.#graceMs, body.creditMs - passedMs + regainedMs);
      if (body.creditMs > 0) continue;
      this.#arriving.delete(body);
      cutOff(request, response);
    }
  }
}

function isFull(request: IncomingMessage): boolean {
  return request.readableLength >= request.readableHighWaterMark;
}

/** Tells the reader of the body that the rest will not come. */
function cutOff(request: IncomingMessage, response: ServerResponse): void {
  if (response.headersSent) {
    request.destroy();
    return;
  }
  const problem = toProblem(new SuzumioError('request-too-slow', 'The body arrived too slowly and was given up.'));
  response.writeHead(problem.status, { 'content-type': problemMediaType, connection: 'close' });
  response.end(JSON.stringify(problem), () => request.destroy());
}
