import { delay } from '@suzumio/protocol/retry';
import { messageOf, SuzumioError } from './errors.js';
import type { HandleTurn } from './handle-turn.js';
import { Http } from './http.js';
import { type Ended, runTurn } from './run-turn.js';
import { type ClaimAnswer, type ClaimedTurn, handlersProtocol, type Self } from './wire.js';

/** A handler's logger; `console` is one. */
export interface HandlerLogger {
  info(message: string): void;
  warn(message: string): void;
}

export interface TeamHandlerOptions {
  /** The ToolHost's listener for workers, such as `http://127.0.0.1:39410`. */
  readonly url: string;
  /** A token of the scope `handler`. */
  readonly token: string;
  /** Only turns of these agents. @default all agents of the token */
  readonly agents?: readonly string[];
  /** Only turns of agents in this team. */
  readonly team?: string;
  /** The number of concurrent turns. @default 1 */
  readonly concurrency?: number;
  /**
   * The most messages of a turn; with 1, each message is a turn of its own. @default the project's `maxPromptMessages`
   */
  readonly batch?: number;
  /** This process's name in attempts and events: letters, digits and `._@:-`. @default generated */
  readonly name?: string;
  /** @default no output */
  readonly logger?: HandlerLogger;
  /** Stops the handler when it is aborted, as `stop` does. */
  readonly signal?: AbortSignal;
}

/** A handler that takes turns. */
export interface RunningHandler {
  /**
   * Takes no more turns, waits for running ones, and resolves when they have finished.
   *
   * @param options.graceMs after this time, running turns are left to other attempts: their signal is aborted, and they
   *   are retried from where they stood. Code that ignores the signal is not waited for. @default no limit
   * @default no limit
   */
  stop(options?: { graceMs?: number }): Promise<void>;
  /**
   * Resolves when the handler has stopped. Rejects with a {@link SuzumioError} when its token is not, or no longer,
   * valid; if you do not handle that, Node ends the process.
   */
  readonly done: Promise<void>;
}

/** How long one request waits for a turn. */
const waitMs = 25_000;
/** How much later its answer may come before the request is repeated. */
const answerMs = 5_000;
/** A ToolHost that answers sooner without a turn is about to stop. */
const shortMs = 1_000;
/** How long a ToolHost may be away before a handler without a logger says so. */
const unreachableMs = 5_000;

const whereItIs = 'The url is that of the listener for workers, which `suzumio serve` prints.';

/** How long a stopped handler waits for the answer to its last claim. */
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

  /** Takes turns, and calls `handle` for each. */
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
  /** Whether nothing is logged: a ToolHost that cannot be reached is told on stderr then, once. */
  #isSilent: boolean;
  readonly #turns = new Set<Promise<void>>();
  /** Aborted when no more turns are taken. */
  readonly #stopping = new AbortController();
  /** Aborted when running turns are left to other attempts. */
  readonly #leaving = new AbortController();
  /** Aborted when the wait for the last claim ends. */
  readonly #late = new AbortController();
  /** The pending claim. */
  #claimId: string | undefined;
  #project = '';

  constructor(
    private readonly options: TeamHandlerOptions,
    private readonly handle: HandleTurn,
  ) {
    this.#http = new Http(options.url);
    this.#name = options.name ?? `handler-${random(4)}`;
    this.#logger = options.logger ?? { info: () => undefined, warn: () => undefined };
    this.#isSilent = options.logger === undefined;
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

  /** Reads the token's project and agents; false where the handler is stopped first. */
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
      this.#giveUp().catch((error: unknown) =>
        this.#logger.warn(`a claim could not be cancelled: ${messageOf(error)}`),
      );
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

  /** Waits for a turn. The same claim is retried until it is answered, so that no claimed turn is lost. */
  async #claim(): Promise<ClaimedTurn | null> {
    const claimId = random(16);
    this.#claimId = claimId;
    const { agents, team, batch, token } = this.options;
    const body = { claimId, handler: this.#name, protocol: handlersProtocol, agents, team, batch, waitMs };
    const path = `/projects/${this.#project}/handlers/claim`;
    const ask = { method: 'POST', path, token, json: body, timeoutMs: waitMs + answerMs } as const;
    try {
      // A turn that was granted during the stop is reported back.
      return (await this.#http.repeat<ClaimAnswer>(ask, this.#late.signal, this.#saidOnce())).turn;
    } catch (error) {
      if (this.#stopping.signal.aborted) return null;
      // It was granted, but the answer came too late.
      if (error instanceof SuzumioError && error.code === 'attempt-over') return null;
      throw error;
    } finally {
      this.#claimId = undefined;
    }
  }

  /** Cancels the pending claim. */
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

  /** Logs an unavailable ToolHost, once for each request. */
  #saidOnce(): (error: unknown) => void {
    let said = false;
    const beganMs = performance.now();
    return (error) => {
      if (!said) this.#logger.warn(`${messageOf(error)}; trying again`);
      said = true;
      if (!this.#isSilent || performance.now() - beganMs < unreachableMs) return;
      this.#isSilent = false;
      console.error(`suzumio: ${messageOf(error)}. Trying again. ${whereItIs}`);
    };
  }
}

function random(bytes: number): string {
  return [...crypto.getRandomValues(new Uint8Array(bytes))].map((byte) => byte.toString(16).padStart(2, '0')).join('');
}
