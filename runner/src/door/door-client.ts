import { maxCallBytes, maxToolBodyBytes } from '@suzumio/protocol/door';
import { bytesOf, type HttpAnswer, type HttpClient, type HttpRequest } from '@suzumio/protocol/http-client';
import { HttpUnavailable } from '@suzumio/protocol/http-failures';
import { type Problem, problemMediaType } from '@suzumio/protocol/problem';
import { retry } from '@suzumio/protocol/retry';
import { exitCodes, messageOf, TurnFailure } from '../turn-failure.js';
import type { Connector } from './connector.js';
import { type DoorBody, doorHttp } from './exchange.js';

/** Limits of a {@link DoorClient}. */
export interface DoorClientOptions {
  /** How long the door may fail continuously. */
  readonly patienceMs: number;
  readonly log: (line: string) => void;
}

/** The default of that limit. */
export const defaultPatienceMs = 15_000;

export type DoorRequest = HttpRequest<DoorBody>;

/** A complete answer of the door. */
export interface DoorAnswer {
  readonly status: number;
  readonly contentType: string;
  readonly body: Buffer;
}

/**
 * Sends requests through the door and retries them while it is unavailable. Only idempotent requests belong here:
 * content by hash, tool calls with a step.
 */
export class DoorClient {
  readonly #http: HttpClient<DoorBody>;

  constructor(
    connector: Connector,
    private readonly options: DoorClientOptions,
  ) {
    this.#http = doorHttp(connector);
  }

  /**
   * Returns the first answer. Throws a {@link TurnFailure} with the exit code for an unavailable door. A call that is too
   * long for a ToolHost is refused here: a server refuses it while it still comes, and its answer may be lost by that.
   */
  async send(request: DoorRequest): Promise<DoorAnswer> {
    const bytes = request.json === undefined ? 0 : Buffer.byteLength(JSON.stringify(request.json));
    if (bytes > maxCallBytes) {
      const detail = `The call has ${bytes} bytes, and at most ${maxCallBytes} are taken: write less at once.`;
      const found = { type: 'urn:suzumio:problem:body-too-large', title: 'body too large', status: 413, detail };
      const body = Buffer.from(JSON.stringify({ ...found, code: 'body-too-large' } satisfies Problem));
      return { status: 413, contentType: problemMediaType, body };
    }
    return this.#patiently(async () => wholeAnswer(await this.#http.ask(request), request));
  }

  /**
   * Passes the body of a successful answer to `take`, of any size and from its start at each try. Returns the answer
   * where it is a refusal.
   */
  receive(
    request: DoorRequest,
    take: (body: AsyncIterable<Uint8Array>) => Promise<void>,
  ): Promise<DoorAnswer | undefined> {
    return this.#patiently(async () => {
      const answer = await this.#http.ask(request);
      if (answer.status >= 300) return wholeAnswer(answer, request);
      await take(answer.body);
      return undefined;
    });
  }

  async #patiently<Result>(operation: () => Promise<Result>): Promise<Result> {
    const { patienceMs, log } = this.options;
    try {
      return await retry(operation, {
        firstDelayMs: 50,
        longestDelayMs: 1_000,
        isRetryable: (error) => error instanceof HttpUnavailable,
        patienceMs,
        onFailure: (error, failures) => {
          if (failures === 1) log(`the door fails (${messageOf(error)}); trying again for up to ${patienceMs} ms`);
        },
      });
    } catch (error) {
      if (!(error instanceof HttpUnavailable)) throw error;
      throw new TurnFailure(`the door was away for ${patienceMs} ms: ${error.message}`, exitCodes.doorAway);
    }
  }
}

async function wholeAnswer(answer: HttpAnswer, { method, path }: DoorRequest): Promise<DoorAnswer> {
  const body = await bytesOf(answer, maxToolBodyBytes).catch((error: unknown) => {
    if (!(error instanceof RangeError)) throw error;
    throw new TurnFailure(`the answer to ${method} ${path} is over ${maxToolBodyBytes} bytes`);
  });
  return { status: answer.status, contentType: answer.header('content-type') ?? '', body: Buffer.from(body) };
}
