import { setTimeout as sleep } from 'node:timers/promises';
import { exitCodes, TurnFailure } from '../turn-failure.js';
import type { Connector } from './connector.js';
import {
  bodyOf,
  ConnectionLost,
  type DoorAnswer,
  type DoorRequest,
  exchange,
  respond,
  wholeAnswer,
} from './exchange.js';

/** What bounds a {@link DoorClient}. */
export interface DoorClientOptions {
  /** How long the door may fail without pause. */
  readonly patienceMs: number;
  readonly log: (line: string) => void;
}

/** How long the door may fail where the input does not say. */
export const defaultPatienceMs = 15_000;

const firstDelayMs = 50;
const longestDelayMs = 1000;

/**
 * Sends requests through the door and repeats them while the door is away: connections that fail, answers of 500 and
 * above, and bodies that the other side gave up waiting for (408). Only requests that may take effect once however often they arrive belong here: content by its hash, tool calls
 * that name their step.
 */
export class DoorClient {
  constructor(
    readonly connector: Connector,
    private readonly options: DoorClientOptions,
  ) {}

  /** The first answer that is one. Throws a {@link TurnFailure} with the exit code for an absent door. */
  send(request: DoorRequest): Promise<DoorAnswer> {
    return this.#untilAnswered(async () => {
      const answer = await exchange(this.connector, request);
      return isWorthAnother(answer.status) ? { failure: failureOf(request, answer.status) } : { result: answer };
    });
  }

  /**
   * Hands the body of a successful answer to `take`, of any size and from its start each time that it is sent. Returns
   * the answer where it is a refusal.
   */
  receive(request: DoorRequest, take: (body: AsyncIterable<Buffer>) => Promise<void>): Promise<DoorAnswer | undefined> {
    return this.#untilAnswered(async () => {
      const response = await respond(this.connector, request);
      const { statusCode = 0 } = response;
      if (isWorthAnother(statusCode)) {
        response.destroy();
        return { failure: failureOf(request, statusCode) };
      }
      if (statusCode >= 300) return { result: await wholeAnswer(response, request) };
      await take(bodyOf(response));
      return { result: undefined };
    });
  }

  /** Tries until there is a result, for as long as the door's failures are put up with. */
  async #untilAnswered<Result>(attempt: () => Promise<Outcome<Result>>): Promise<Result> {
    let failingSince: number | undefined;
    for (let delayMs = firstDelayMs; ; delayMs = Math.min(2 * delayMs, longestDelayMs)) {
      const outcome = await attempt().catch(lostConnection);
      if (!('failure' in outcome)) return outcome.result;
      if (failingSince === undefined) {
        failingSince = performance.now();
        this.options.log(`the door fails (${outcome.failure}); trying again for up to ${this.options.patienceMs} ms`);
      }
      const leftMs = failingSince + this.options.patienceMs - performance.now();
      if (leftMs <= 0) {
        throw new TurnFailure(
          `the door was away for ${this.options.patienceMs} ms: ${outcome.failure}`,
          exitCodes.doorAway,
        );
      }
      await sleep(Math.min(delayMs, leftMs));
    }
  }
}

/** What a try came to: what was wanted, or why it is worth another. */
type Outcome<Result> = { readonly result: Result } | { readonly failure: string };

function isWorthAnother(status: number): boolean {
  return status >= 500 || status === 408;
}

function failureOf({ method, path }: DoorRequest, status: number): string {
  return `${method} ${path} answered ${status}`;
}

function lostConnection(error: unknown): { failure: string } {
  if (error instanceof ConnectionLost) return { failure: error.message };
  throw error;
}
