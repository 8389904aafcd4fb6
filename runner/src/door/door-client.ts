import { setTimeout as sleep } from 'node:timers/promises';
import { exitCodes, TurnFailure } from '../turn-failure.js';
import type { Connector } from './connector.js';
import { ConnectionLost, type DoorAnswer, type DoorRequest, exchange } from './exchange.js';

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
 * Sends requests through the door and repeats them while the door is away: connections that fail, and answers of 500 and
 * above. Only requests that may take effect once however often they arrive belong here: content by its hash, tool calls
 * that name their step.
 */
export class DoorClient {
  constructor(
    readonly connector: Connector,
    private readonly options: DoorClientOptions,
  ) {}

  /** The first answer below 500. Throws a {@link TurnFailure} with the exit code for an absent door. */
  async send(request: DoorRequest): Promise<DoorAnswer> {
    let failingSince: number | undefined;
    for (let delayMs = firstDelayMs; ; delayMs = Math.min(2 * delayMs, longestDelayMs)) {
      const outcome = await this.#try(request);
      if (typeof outcome !== 'string') return outcome;
      if (failingSince === undefined) {
        failingSince = performance.now();
        this.options.log(`the door fails (${outcome}); trying again for up to ${this.options.patienceMs} ms`);
      }
      const leftMs = failingSince + this.options.patienceMs - performance.now();
      if (leftMs <= 0) {
        throw new TurnFailure(`the door was away for ${this.options.patienceMs} ms: ${outcome}`, exitCodes.doorAway);
      }
      await sleep(Math.min(delayMs, leftMs));
    }
  }

  /** An answer, or why there is none that counts. */
  async #try(request: DoorRequest): Promise<DoorAnswer | string> {
    try {
      const answer = await exchange(this.connector, request);
      return answer.status < 500 ? answer : `${request.method} ${request.path} answered ${answer.status}`;
    } catch (error) {
      if (error instanceof ConnectionLost) return error.message;
      throw error;
    }
  }
}
