import { SuzumioError } from '@suzumio/contract/errors/suzumio-error';
import type { Transport } from '@suzumio/runtime/queue/transport';
import { CancelledClaims } from './cancelled-claims.js';

/** How many claims of one token may wait in this process. */
const mostOfToken = 64;

/** A claim that waits for a turn. */
export interface ClaimWait {
  /** Whether it is cancelled: its handler cancelled it, repeated it or disconnected; or this process stops. */
  readonly over: boolean;
  /** Resolves on a hint for the project, on cancellation, or after `ms`. */
  next(ms: number): Promise<void>;
  /** Cancels it: its request is answered at once. */
  cancel(): void;
  /** Ends it, once no turn can be claimed for it any more. */
  end(): void;
}

interface Waiting extends ClaimWait {
  project: string;
  token: string;
  notice(): void;
  ended: Promise<void>;
}

/**
 * The handlers' claims that wait in this process. One request per claim waits at a time: a second one ends the first,
 * and begins once that is answered, so that no turn is claimed for an abandoned request.
 */
export class ClaimWaits {
  readonly #waiting = new Map<string, Waiting>();
  readonly #cancelled: CancelledClaims;
  #forget: (() => void) | undefined;
  #closed = false;

  constructor(
    private readonly transport: Transport,
    nowMs = () => performance.now(),
  ) {
    this.#cancelled = new CancelledClaims(nowMs);
  }

  /** @throws SuzumioError `rate-limited` when too many claims of this token wait */
  async begin(claim: { project: string; token: string; claimId: string }): Promise<ClaimWait> {
    const key = keyOf(claim);
    for (let prior = this.#waiting.get(key); prior; prior = this.#waiting.get(key)) {
      prior.cancel();
      await prior.ended;
    }
    const ofToken = [...this.#waiting.values()].filter(({ token }) => token === claim.token).length;
    if (ofToken >= mostOfToken) {
      const message = `${String(mostOfToken)} claims of this token wait already; let one handler wait for all its agents.`;
      throw new SuzumioError('rate-limited', message);
    }
    const wait = waiting(claim, () => this.#waiting.delete(key));
    if (this.#closed || this.#cancelled.has(key)) wait.cancel();
    // The first to wait listens for all.
    else this.#forget ??= this.transport.onHint(({ project }) => this.#notice(project));
    this.#waiting.set(key, wait);
    return wait;
  }

  /** Cancels a claim: its wait, if it has one, and those of its requests that arrive within a minute. */
  cancel(claim: { project: string; token: string; claimId: string }): void {
    const key = keyOf(claim);
    this.#cancelled.add(key, claim.token);
    this.#waiting.get(key)?.cancel();
  }

  /** Cancels all waits; later claims do not wait. */
  close(): void {
    this.#closed = true;
    this.#forget?.();
    for (const wait of this.#waiting.values()) wait.cancel();
  }

  #notice(project: string): void {
    for (const wait of this.#waiting.values()) {
      if (wait.project === project) wait.notice();
    }
  }
}

function keyOf({ project, token, claimId }: { project: string; token: string; claimId: string }): string {
  return [project, token, claimId].join(' ');
}

function waiting({ project, token }: { project: string; token: string }, onEnd: () => void): Waiting {
  let over = false;
  /** Whether a hint has come since the last look. */
  let noticed = false;
  let wake: () => void = () => undefined;
  const { promise: ended, resolve } = Promise.withResolvers<undefined>();
  const notice = () => {
    noticed = true;
    wake();
  };
  return {
    project,
    token,
    ended,
    notice,
    get over() {
      return over;
    },
    cancel() {
      over = true;
      notice();
    },
    async next(ms) {
      if (!noticed) {
        await new Promise<void>((woken) => {
          const timer = setTimeout(woken, ms);
          wake = () => {
            clearTimeout(timer);
            woken();
          };
        });
      }
      noticed = false;
    },
    end() {
      onEnd();
      resolve(undefined);
    },
  };
}
