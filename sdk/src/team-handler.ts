import { delay } from '@suzumio/protocol/retry';
import { messageOf, SuzumioError } from './errors.js';
import type { HandleTurn } from './handle-turn.js';
import { Http } from './http.js';
import { type Ended, runTurn } from './run-turn.js';
import { type ClaimAnswer, type ClaimedTurn, handlersProtocol, type Self } from './wire.js';

/** Where a handler says what happens: `console` is one. */
export interface HandlerLogger {
  info(message: string): void;
  warn(message: string): void;
}

export interface TeamHandlerOptions {
  /** The ToolHost's listener for workers, such as `http://127.0.0.1:39410`. */
  readonly url: string;
  /** A token of the scope `handler`. */
  readonly token: string;
  /** Only turns of these agents. @default all that the token is for */
  readonly agents?: readonly string[];
  /** Only turns of agents that are in this team. */
  readonly team?: string;
  /** How many turns run at a time. @default 1 */
  readonly concurrency?: number;
  /** The most messages that a turn takes; 1 hands over each by itself. @default the project's `maxPromptMessages` */
  readonly batch?: number;
  /** Names this process in attempts and events: letters, digits and `._@:-`. @default made up */
  readonly name?: string;
  /** @default nothing is said */
  readonly logger?: HandlerLogger;
  /** Stops the handler when it is aborted, as `stop` does. */
  readonly signal?: AbortSignal;
}

/** A handler that takes turns. */
export interface RunningHandler {
  /**
   * Takes no more turns, lets those that run finish, and resolves when they have.
   *
   * @param options.graceMs after this time, turns that still run are left to other attempts: their signal is
   *   aborted, and they are tried again from where they stood. Code that does not heed the signal is not waited for.
   *   @default no limit
   */
  stop(options?: { graceMs?: number }): Promise<void>;
  /**
   * Resolves when the handler has stopped. Rejects with a {@link SuzumioError} when it had to, because its token opens
   * nothing any more or never did; if nobody listens, Node ends the process with that.
   */
  readonly done: Promise<void>;
}

/** How long one request waits for a turn. */
const waitMs = 25_000;
/** How much later its answer may come before it is asked again. */
const answerMs = 5_000;
/** A ToolHost that answers sooner that there is none is about to stop. */
const shortMs = 1_000;
/** How long an answer to the last claim is waited for once the handler is stopped. */
const lastAnswerMs = 5_000;

/** Runs the turns of external agents in this process. */
export class TeamHandler {
  readonly #options: TeamHandlerOptions;
  #running = false;

  constructor(options: TeamHandlerOptions) {
    const { concurrency = 1 } = options;
    if (!Number.isInteger(concurrency) || concurrency < 1) throw new RangeError('concurrency is 1 or more');
    this.#options = options;
  }

  /** Begins to take turns, and hands each to `handle`. */
  handle(handle: HandleTurn): RunningHandler {
    if (this.#running) throw new Error('this TeamHandler has its handler already: make another one');
    this.#running = true;
    return new Takes(this.#options, handle);
  }
}

class Takes implements RunningHandler {
  readonly done: Promise<void>;
  readonly #http: Http;
  readonly #name: string;
  readonly #logger: HandlerLogger;
  readonly #turns = new Set<Promise<void>>();
  /** Aborted when no more turns are taken. */
  readonly #stopping = new AbortController();
  /** Aborted when those that run are left. */
  readonly #leaving = new AbortController();
  /** Aborted when the last claim is waited for no longer. */
  readonly #late = new AbortController();
  /** The claim that waits. */
  #claimId: string | undefined;
  #project = '';

  constructor(
    private readonly options: TeamHandlerOptions,
    private readonly handle: HandleTurn,
  ) {
    this.#http = new Http(options.url);
    this.#name = options.name ?? `handler-${random(4)}`;
    this.#logger = options.logger ?? { info: () => undefined, warn: () => undefined };
    const stop = () => this.#stopping.abort();
    if (options.signal?.aborted === true) stop();
    options.signal?.addEventListener('abort', stop);
    this.done = this.#run().finally(() => options.signal?.removeEventListener('abort', stop));
  }

  async stop({ graceMs }: { graceMs?: number } = {}): Promise<void> {
    this.#stopping.abort();
    const grace = graceMs === undefined ? undefined : setTimeout(() => this.#leaving.abort(), graceMs);
    try {
      await this.done;
    } finally {
      clearTimeout(grace);
    }
  }

  async #run(): Promise<void> {
    try {
      if (await this.#introduce()) await this.#take();
    } finally {
      await Promise.all(this.#turns);
    }
  }

  /** Learns what the token is for; false where the handler is stopped before it did. */
  async #introduce(): Promise<boolean> {
    const ask = { method: 'GET', path: '/handlers/self', token: this.options.token } as const;
    const self = await this.#patiently(ask);
    if (!self) return false;
    this.#project = self.project;
    this.#logger.info(
      `${this.#name} takes turns of ${(this.options.agents ?? self.agents).join(', ')} in ${self.project}`,
    );
    return true;
  }

  async #patiently(ask: Parameters<Http['ask']>[0]): Promise<Self | undefined> {
    try {
      return await this.#http.repeat<Self>(ask, this.#stopping.signal, this.#saidOnce());
    } catch (error) {
      if (this.#stopping.signal.aborted) return undefined;
      throw error;
    }
  }

  async #take(): Promise<void> {
    const { signal } = this.#stopping;
    const stopped = new Promise<void>((resolve) => {
      signal.addEventListener('abort', () => resolve(), { once: true });
    });
    let late: ReturnType<typeof setTimeout> | undefined;
    const giveUp = () => {
      late = setTimeout(() => this.#late.abort(), lastAnswerMs);
      this.#giveUp().catch((error: unknown) => this.#logger.warn(`a claim could not be given up: ${messageOf(error)}`));
    };
    signal.addEventListener('abort', giveUp, { once: true });
    try {
      while (!signal.aborted) {
        if (this.#turns.size >= (this.options.concurrency ?? 1)) {
          await Promise.race([...this.#turns, stopped]);
          continue;
        }
        const askedAtMs = performance.now();
        const turn = await this.#claim();
        if (turn) this.#begin(turn);
        else if (performance.now() - askedAtMs < shortMs) await delay(shortMs, signal);
      }
    } finally {
      signal.removeEventListener('abort', giveUp);
      clearTimeout(late);
    }
  }

  /** Waits for a turn. The same words are sent until they are answered, so that no turn is claimed and forgotten. */
  async #claim(): Promise<ClaimedTurn | null> {
    const claimId = random(16);
    this.#claimId = claimId;
    const { agents, team, batch, token } = this.options;
    const body = { claimId, handler: this.#name, protocol: handlersProtocol, agents, team, batch, waitMs };
    const path = `/projects/${this.#project}/handlers/claim`;
    const ask = { method: 'POST', path, token, json: body, timeoutMs: waitMs + answerMs } as const;
    try {
      // What was granted while it was being stopped is answered, and given back.
      return (await this.#http.repeat<ClaimAnswer>(ask, this.#late.signal, this.#saidOnce())).turn;
    } catch (error) {
      if (this.#stopping.signal.aborted) return null;
      // It was granted, but the answer came too late to us.
      if (error instanceof SuzumioError && error.code === 'attempt-over') return null;
      throw error;
    } finally {
      this.#claimId = undefined;
    }
  }

  /** Has the claim that waits answered at once. */
  async #giveUp(): Promise<void> {
    if (this.#claimId === undefined) return;
    const path = `/projects/${this.#project}/handlers/claims/${this.#claimId}`;
    await this.#http.ask({ method: 'DELETE', path, token: this.options.token, timeoutMs: 5_000 });
  }

  #begin(turn: ClaimedTurn): void {
    const { handle } = this;
    const stopped = this.#stopping.signal.aborted ? this.#stopping.signal : this.#leaving.signal;
    const running = runTurn(this.#http, turn, { handle, stopped })
      .then((ended) => this.#tell(turn, ended))
      .finally(() => this.#turns.delete(running));
    this.#turns.add(running);
  }

  #tell({ agent, number, attempt }: ClaimedTurn, { outcome, error }: Ended): void {
    const which = `turn ${String(number)} of ${agent.id}, attempt ${String(attempt)}`;
    if (outcome === 'completed') this.#logger.info(`${which}: completed`);
    else this.#logger.warn(`${which}: ${outcome}: ${messageOf(error)}`);
  }

  /** Says of a ToolHost that is away that it is, once for each request. */
  #saidOnce(): (error: unknown) => void {
    let said = false;
    return (error) => {
      if (!said) this.#logger.warn(`${messageOf(error)}; trying again`);
      said = true;
    };
  }
}

function random(bytes: number): string {
  return [...crypto.getRandomValues(new Uint8Array(bytes))].map((byte) => byte.toString(16).padStart(2, '0')).join('');
}
