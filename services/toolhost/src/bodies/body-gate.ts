import { SuzumioError } from '@suzumio/contract/errors/suzumio-error';

/** Who sends a body. */
export interface BodySender {
  project: string;
  /** A unique name of the attempt. */
  attempt: string;
}

export interface BodyGateLimits {
  /** The limit for all bodies of one attempt, in bytes. */
  attemptBytes: number;
  /** The limit for all bodies, in bytes: at least `attemptBytes`. */
  totalBytes: number;
  /** How many requests of one attempt may run. */
  attemptRequests: number;
}

/** The memory held for an admitted body. */
export interface BodyRoom {
  /** Releases what the body does not need. */
  shrinkTo(bytes: number): void;
}

interface Entry {
  of: BodySender;
  bytes: number;
  admit: () => void;
}

interface InFlight {
  requests: number;
  bytes: number;
}

/**
 * Limits the memory for runners' requests. A request enters before its body is read, and leaves when it is answered. A
 * request without room waits with its body unread, so that TCP applies backpressure to its sender.
 *
 * A project may hold half of what the others leave free, and always as much as one attempt may: however much the first
 * projects hold, some is left for the next. Freed room goes to the waiting project that holds least, and within a
 * project in order of arrival, so that no project waits behind all earlier requests of another. A request that waits
 * for its own attempt or project delays no other.
 */
export class BodyGate {
  readonly #attempts = new Map<string, InFlight>();
  readonly #projectBytes = new Map<string, number>();
  readonly #waiting = new Set<Entry>();
  #bytes = 0;

  constructor(private readonly limits: BodyGateLimits) {}

  /** The memory of all admitted bodies. */
  get bytes(): number {
    return this.#bytes;
  }

  /**
   * Waits for room, and takes it.
   *
   * @param bytes the body's length, no longer than `attemptBytes`
   * @param given aborted when the request is over: its room is released, or its wait ends
   * @throws SuzumioError `attempt-busy`; the reason of `given`
   */
  async enter(of: BodySender, bytes: number, given: AbortSignal): Promise<BodyRoom> {
    given.throwIfAborted();
    const { attempt } = of;
    const inFlight = this.#attempts.get(attempt) ?? { requests: 0, bytes: 0 };
    if (inFlight.requests >= this.limits.attemptRequests) {
      const message = `${String(inFlight.requests)} requests of this attempt are under way; ask again when one is answered.`;
      throw new SuzumioError('attempt-busy', message, { retryAfterSeconds: 1 });
    }
    this.#attempts.set(attempt, inFlight);
    inFlight.requests += 1;
    let heldBytes = 0;
    const holdBytes = (held: number) => {
      inFlight.bytes += held - heldBytes;
      this.#hold(of.project, held - heldBytes);
      heldBytes = held;
    };
    await new Promise<void>((resolve) => {
      const entry: Entry = {
        of,
        bytes,
        admit: () => {
          holdBytes(bytes);
          resolve();
        },
      };
      given.addEventListener('abort', () => {
        inFlight.requests -= 1;
        holdBytes(0);
        this.#waiting.delete(entry);
        resolve();
        if (inFlight.requests === 0) this.#attempts.delete(attempt);
        this.#admit();
      });
      this.#waiting.add(entry);
      this.#admit();
    });
    given.throwIfAborted();
    return {
      shrinkTo: (needed) => {
        if (needed >= heldBytes) return;
        holdBytes(needed);
        this.#admit();
      },
    };
  }

  #hold(project: string, bytes: number): void {
    this.#bytes += bytes;
    const held = (this.#projectBytes.get(project) ?? 0) + bytes;
    if (held === 0) this.#projectBytes.delete(project);
    else this.#projectBytes.set(project, held);
  }

  #admit(): void {
    for (let next = this.#next(); next; next = this.#next()) {
      // A smaller request does not overtake: it would starve larger ones.
      if (this.#bytes + next.bytes > this.limits.totalBytes) return;
      this.#waiting.delete(next);
      next.admit();
    }
  }

  /** The next request that its own attempt and project have room for, from the project that holds least. */
  #next(): Entry | undefined {
    let next: Entry | undefined;
    let leastBytes = Infinity;
    for (const entry of this.#waiting) {
      const ofAttempt = this.#attempts.get(entry.of.attempt)?.bytes ?? 0;
      if (ofAttempt + entry.bytes > this.limits.attemptBytes) continue;
      const ofProject = this.#projectBytes.get(entry.of.project) ?? 0;
      if (ofProject + entry.bytes > this.#shareOf(ofProject)) continue;
      if (ofProject >= leastBytes) continue;
      next = entry;
      leastBytes = ofProject;
    }
    return next;
  }

  /** The limit of a project that holds this much. */
  #shareOf(ofProject: number): number {
    const left = this.limits.totalBytes - (this.#bytes - ofProject);
    return Math.max(this.limits.attemptBytes, left / 2);
  }
}
