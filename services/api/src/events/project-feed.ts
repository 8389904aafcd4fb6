import { setImmediate as nextTick } from 'node:timers/promises';
import { isSuzumioError } from '@suzumio/contract/errors/suzumio-error';
import type { Follower, Frame } from './follower.js';

/** Events after a position, and the end of the timeline at that moment. */
export interface EventPage {
  epoch: number;
  newest: number;
  frames: Frame[];
  /** The last event that the page covers. */
  last: number;
}

export interface ProjectFeedOptions {
  read: (after: number) => Promise<EventPage>;
  /** Called when events cannot be read; the followers are disconnected. */
  onFailure: (error: unknown) => void;
  pollMs: number;
  heartbeatMs: number;
}

/**
 * All followers of one project, served by one loop: it reads the page that one follower needs and delivers it to every
 * other at the same position, so that any number of followers costs one read per hint. A slow follower is skipped until
 * it has taken what it was sent, and then continues from the database.
 *
 * The database is the only source: hints and polls only say when to read.
 */
export class ProjectFeed {
  readonly #followers = new Set<Follower>();
  readonly #timers: NodeJS.Timeout[];
  /** The end of the timeline at the last read. */
  #position: { epoch: number; newest: number } | undefined;
  /** Whether events may have been appended since then. */
  #news = true;
  #serving = false;
  #served: Promise<void> = Promise.resolve();

  constructor(private readonly options: ProjectFeedOptions) {
    this.#timers = [
      setInterval(() => this.lookAgain(), options.pollMs),
      setInterval(() => {
        for (const follower of this.#followers) follower.beat();
      }, options.heartbeatMs),
    ];
  }

  get size(): number {
    return this.#followers.size;
  }

  add(follower: Follower): void {
    this.#followers.add(follower);
    this.serve();
  }

  remove(follower: Follower): void {
    this.#followers.delete(follower);
  }

  /** Reads again: there may be new events. */
  lookAgain(): void {
    this.#news = true;
    this.serve();
  }

  /** Serves the followers that are behind, until no ready one is. */
  serve(): void {
    if (this.#serving) return;
    this.#serving = true;
    this.#served = this.#serveAll();
  }

  /** Ends every stream. */
  async close(): Promise<void> {
    for (const timer of this.#timers) clearInterval(timer);
    this.#endAll((follower) => follower.end());
    await this.#served;
  }

  async #serveAll(): Promise<void> {
    try {
      for (let next = this.#nextBehind(); next; next = this.#nextBehind()) {
        const after = next.seq;
        // Events appended from here on are news again, whether this read sees them or not.
        this.#news = false;
        this.#deliver(await this.options.read(after), after);
        // Moved to the end, so that the others come first next time.
        if (this.#followers.delete(next)) this.#followers.add(next);
        await nextTick();
      }
    } catch (error) {
      if (isSuzumioError(error, 'project-unknown')) this.#endAll((follower) => follower.endDeleted());
      else {
        this.#endAll((follower) => follower.end());
        this.options.onFailure(error);
      }
    } finally {
      // In the same turn of the event loop as the last check: a later follower starts the loop again.
      this.#serving = false;
    }
  }

  #nextBehind(): Follower | undefined {
    for (const follower of this.#followers) {
      const { epoch, newest } = this.#position ?? {};
      if (follower.ready && (this.#news || follower.epoch !== epoch || follower.seq !== newest)) return follower;
    }
    return undefined;
  }

  #deliver({ epoch, newest, frames, last }: EventPage, after: number): void {
    this.#position = { epoch, newest };
    for (const follower of this.#followers) {
      if (!follower.ready) continue;
      follower.epoch ??= epoch;
      if (follower.epoch !== epoch || follower.seq > newest) follower.reset(epoch);
      else if (follower.seq >= after && follower.seq < last) {
        const from = follower.seq;
        follower.take(
          frames.filter((frame) => frame.seq > from),
          last,
        );
      }
    }
  }

  #endAll(end: (follower: Follower) => void): void {
    for (const follower of this.#followers) end(follower);
    this.#followers.clear();
  }
}
