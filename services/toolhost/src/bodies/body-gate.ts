import { SuzumioError } from '@suzumio/shared/errors/suzumio-error';

/** Who sends a body. */
export interface BodySender {
  project: string;
  /** The attempt's name, unlike that of any other. */
  attempt: string;
}

export interface BodyGateLimits {
  /** What the bodies of one attempt may have together, in bytes. */
  attemptBytes: number;
  /** What the bodies of one project may have together, in bytes: at least as much as an attempt. */
  projectBytes: number;
  /** What the bodies of all attempts may have together, in bytes. */
  totalBytes: number;
  /** How many requests of one attempt may be under way. */
  attemptRequests: number;
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
 * Bounds what runners' requests hold in memory. A request enters before a byte of its body is read, and leaves when it is
 * answered. One for which there is no room waits with its body unread, so that TCP holds back whoever sends it. Room is
 * given in the order of asking; a request that waits for others of its own attempt or project holds up nobody else.
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
  async enter(of: BodySender, bytes: number, given: AbortSignal): Promise<void> {
    given.throwIfAborted();
    const { attempt } = of;
    const inFlight = this.#attempts.get(attempt) ?? { requests: 0, bytes: 0 };
    if (inFlight.requests >= this.limits.attemptRequests) {
      const message = `${String(inFlight.requests)} requests of this attempt are under way; ask again when one is answered.`;
      throw new SuzumioError('attempt-busy', message, { retryAfterSeconds: 1 });
    }
    this.#attempts.set(attempt, inFlight);
    inFlight.requests += 1;
    await new Promise<void>((resolve) => {
      let admitted = false;
      const entry: Entry = {
        of,
        bytes,
        admit: () => {
          admitted = true;
          inFlight.bytes += bytes;
          this.#hold(of.project, bytes);
          resolve();
        },
      };
      given.addEventListener('abort', () => {
        inFlight.requests -= 1;
        if (admitted) {
          inFlight.bytes -= bytes;
          this.#hold(of.project, -bytes);
        } else {
          this.#waiting.delete(entry);
          resolve();
        }
        if (inFlight.requests === 0) this.#attempts.delete(attempt);
        this.#admit();
      });
      this.#waiting.add(entry);
      this.#admit();
    });
    given.throwIfAborted();
  }

  #hold(project: string, bytes: number): void {
    this.#bytes += bytes;
    const held = (this.#projectBytes.get(project) ?? 0) + bytes;
    if (held === 0) this.#projectBytes.delete(project);
    else this.#projectBytes.set(project, held);
  }

  #admit(): void {
    for (const entry of this.#waiting) {
      const ofAttempt = this.#attempts.get(entry.of.attempt)?.bytes ?? 0;
      if (ofAttempt + entry.bytes > this.limits.attemptBytes) continue;
      const ofProject = this.#projectBytes.get(entry.of.project) ?? 0;
      if (ofProject + entry.bytes > this.limits.projectBytes) continue;
      // Nobody overtakes for whom there is room only because they ask for less.
      if (this.#bytes + entry.bytes > this.limits.totalBytes) return;
      this.#waiting.delete(entry);
      entry.admit();
    }
  }
}
