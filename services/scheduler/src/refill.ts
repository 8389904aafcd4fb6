import { holderOf } from '@suzumio/shared/queue/jobs';
import type { Transport } from '@suzumio/shared/queue/transport';
import type { WaitingLine } from '@suzumio/shared/store/waiting-line';
import { forEachBounded } from './rounds.js';

export interface RefillDependencies {
  transport: Transport;
  line: WaitingLine;
  /** Puts turns of a project on the queue, as many as it was dealt places; undefined where that failed. */
  schedule: (project: string, places: number) => Promise<number | undefined>;
  /** Whether an agent has a turn that was put on the queue and that nobody has claimed yet; undefined where that failed. */
  awaitsClaim: (project: string, agent: string) => Promise<boolean | undefined>;
}

const atOnce = 8;
/** A place that has been held for less than this belongs to a turn that is just being put on the queue. */
const settledMs = 5_000;

/** Deals the places of the queue that are free to the projects that wait for some. */
export class Refill {
  #running: Promise<void> | undefined;
  #again = false;

  constructor(private readonly dependencies: RefillDependencies) {}

  /**
   * Fills the queue; resolves when it is full or no project waits. One round runs at a time, and a call during it causes
   * another. While no project waits it costs one read.
   *
   * @throws SuzumioError `server-unreachable` when the queue is away
   */
  async run(): Promise<void> {
    if (this.dependencies.line.empty) return;
    this.#again = true;
    await (this.#running ??= this.#rounds());
  }

  /**
   * Finds places that no turn holds any more, because a process died or a word of it was lost, and gives them back. Only
   * where projects wait does it matter.
   */
  async reclaim(): Promise<void> {
    const { transport, line, awaitsClaim } = this.dependencies;
    if (line.empty) return;
    await forEachBounded(await transport.heldPlaces(settledMs), atOnce, async (place) => {
      const { project, agent } = holderOf(place);
      if ((await awaitsClaim(project, agent)) !== true) transport.givePlacesBack([place]);
    });
  }

  async #rounds(): Promise<void> {
    try {
      while (this.#again) {
        this.#again = false;
        while (await this.#round());
      }
    } finally {
      this.#running = undefined;
    }
  }

  /** Whether another round may find a place that this one left. */
  async #round(): Promise<boolean> {
    const { transport, line, schedule } = this.dependencies;
    if (line.empty) return false;
    const { free } = await transport.takePlaces([]);
    if (free === 0) return false;
    const shares = await line.deal(free);
    let moved = false;
    await forEachBounded([...shares], atOnce, async ([project, places]) => {
      const delivered = await schedule(project, places);
      // The next sweep puts it back where there is something left to do.
      if (delivered === undefined) await line.leave(project);
      const stays = line.has(project);
      if (!stays || (delivered ?? 0) > 0) moved = true;
      // Another scheduler took what it was dealt.
      if (stays && (delivered ?? 0) < places) await line.putFirst(project);
    });
    return moved;
  }
}
