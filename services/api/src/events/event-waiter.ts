import { SuzumioError } from '@suzumio/contract/errors/suzumio-error';
import type { Follower, Frame } from './follower.js';

/** One request that waits for an event of a project in which it finds what it wants. */
export class EventWaiter<Found> implements Follower {
  epoch: number | undefined;
  #seq: number;
  readonly #found = Promise.withResolvers<Found>();

  constructor(
    from: { epoch: number; seq: number },
    private readonly find: (frame: Frame) => Found | undefined,
  ) {
    this.epoch = from.epoch;
    this.#seq = from.seq;
  }

  /**
   * What is found in the first event that has it.
   *
   * @throws SuzumioError `server-unreachable` when this process can no longer tell; `project-unknown` when it was
   *   deleted
   */
  get found(): Promise<Found> {
    return this.#found.promise;
  }

  get seq(): number {
    return this.#seq;
  }

  readonly ready = true;

  take(frames: readonly Frame[], seq: number): void {
    this.#seq = seq;
    for (const frame of frames) {
      const found = this.find(frame);
      if (found !== undefined) this.#found.resolve(found);
    }
  }

  /** The project has begun another epoch: the client has to read its state anew. */
  reset(epoch: number): void {
    this.epoch = epoch;
    this.#seq = 0;
    this.end();
  }

  beat(): void {
    // No heartbeat: nothing has been sent yet.
  }

  end(): void {
    this.#found.reject(new SuzumioError('server-unreachable', 'This server cannot say any more; ask again.'));
  }

  endDeleted(): void {
    this.#found.reject(new SuzumioError('project-unknown', 'The project was deleted meanwhile.'));
  }
}
