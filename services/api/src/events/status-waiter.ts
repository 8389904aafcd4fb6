import { SuzumioError } from '@suzumio/contract/errors/suzumio-error';
import type { EventType } from '@suzumio/contract/model/event';
import type { ProjectStatus } from '@suzumio/contract/model/project-status';
import type { Follower, Frame } from './follower.js';

/** The status that a project has after an event. */
const statusAfter: Partial<Record<EventType, ProjectStatus>> = {
  'project.initialized': 'initialized',
  'project.started': 'running',
  'project.submitted': 'submitted',
  'project.changes-requested': 'running',
  'project.completed': 'completed',
  'project.stopped': 'stopped',
};

/** One request that waits until a project reaches a status, however briefly. */
export class StatusWaiter implements Follower {
  epoch: number | undefined;
  #seq: number;
  readonly #reached = Promise.withResolvers<ProjectStatus>();

  constructor(
    from: { epoch: number; seq: number },
    private readonly statuses: readonly ProjectStatus[],
  ) {
    this.epoch = from.epoch;
    this.#seq = from.seq;
  }

  /**
   * The first of the statuses that the project reaches.
   *
   * @throws SuzumioError `server-unreachable` when this process can no longer tell; `project-unknown` when it was
   *   deleted
   */
  get reached(): Promise<ProjectStatus> {
    return this.#reached.promise;
  }

  get seq(): number {
    return this.#seq;
  }

  readonly ready = true;

  take(frames: readonly Frame[], seq: number): void {
    this.#seq = seq;
    for (const { type } of frames) {
      const status = type && statusAfter[type];
      if (status !== undefined && this.statuses.includes(status)) this.#reached.resolve(status);
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
    this.#reached.reject(new SuzumioError('server-unreachable', 'This server cannot say any more; ask again.'));
  }

  endDeleted(): void {
    this.#reached.reject(new SuzumioError('project-unknown', 'The project was deleted meanwhile.'));
  }
}
