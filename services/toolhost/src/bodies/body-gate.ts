import { SuzumioError } from '@suzumio/contract/errors/suzumio-error';

/** Who sends a body. */
export interface BodySender {
  project: string;
  /** The attempt's name, unlike that of any other. */
  attempt: string;
}

export interface BodyGateLimits {
  /** What the bodies of one attempt may have together, in bytes. */
  attemptBytes: number;
  /** What the bodies of all attempts may have together, in bytes: at least as much as an attempt. */
  totalBytes: number;
  /** How many requests of one attempt may be under way. */
  attemptRequests: number;
}

/** The room of a body that was let in. */
export interface BodyRoom {
  /** Gives back what the body does not need. */
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
 * Bounds what runners' requests hold in memory. A request enters before its body is read, and leaves when it is answered.
 * One for which there is no room waits with its body unread, so that TCP holds back whoever sends it.
 *
 * A project may have half of what the others leave, and always as much as one attempt may have: however much the first
 * ones hold, there is something left for the next. Room that becomes free goes to whoever waits of the project that has
 * least, and within a project in the order of asking, so that nobody waits behind all that another has asked before. A
 * request that waits for others of its own attempt or project holds up nobody else.
 */
export class BodyGate {
  readonly #attempts = new Map<string, InFlight>();
  readonly #projectBytes = new Map<string, number>();
  readonly #waiting = new Set<Entry>();
  #bytes = 0;

  constructor(private readonly limits: BodyGateLimits) {}

  /** What the bodies have together that were let in. */
  get bytes(): number {
    return this.#bytes;
  }

  /**
   * Waits for room, and takes it.
   *
   * @param bytes the body's length, no longer than `attemptBytes`
   * @param given aborted when the request is over: its room is given back, or it waits no longer
   * @throws SuzumioError `attempt-busy`; whatever `given` was aborted with
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
      // Nobody overtakes for whom there is room only because they ask for less.
      if (this.#bytes + next.bytes > this.limits.totalBytes) return;
      this.#waiting.delete(next);
      next.admit();
    }
  }

  /** Who waits for nothing of its own, of the project that has least. */
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

  /** What a project may have that has so much. */
  #shareOf(ofProject: number): number {
    const left = this.limits.totalBytes - (this.#bytes - ofProject);
    return Math.max(this.limits.attemptBytes, left / 2);
  }
}
