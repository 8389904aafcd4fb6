import { holderOf } from '@suzumio/runtime/queue/jobs';
import { turnJobId, type TurnJobRef } from '@suzumio/protocol/turn-job';
import type { Transport } from '@suzumio/runtime/queue/transport';
import type { WaitingLine } from '@suzumio/store/cell/waiting-line';
import { forEachBounded } from './rounds.js';

export interface RefillDependencies {
  transport: Transport;
  line: WaitingLine;
  /** Puts turns of a project on the queue, as many as it was dealt places; undefined where that failed. */
  schedule: (project: string, places: number) => Promise<number | undefined>;
  /** The job with which a turn of an agent waits in the queue for its claim, if one does; undefined where that failed, too. */
  waitingJob: (project: string, agent: string) => Promise<TurnJobRef | undefined>;
}

const atOnce = 8;
/** What is free after so many rounds of one look is of claims that came meanwhile: each asks for a look of its own. */
const mostRounds = 4;
/** A place that has been held for less than this belongs to a turn that is just being put on the queue. */
const settledMs = 5_000;

/** Deals the places of the queue that are free to the projects that wait for some. */
export class Refill {
  constructor(private readonly dependencies: RefillDependencies) {}

  /**
   * Fills the queue. While no project waits it costs one read.
   *
   * @throws SuzumioError `server-unreachable` when the queue is away
   */
  async run(): Promise<void> {
    for (let round = 0; round < mostRounds; round += 1) if (!(await this.#round())) return;
  }

  /**
   * Finds places for which no job is in the queue any more, because a process died, or a job was dropped without a claim,
   * and gives them back: their turns get a place again like all others. Only where projects wait does it matter.
   *
   * @throws SuzumioError `server-unreachable` when the queue is away
   */
  async reclaim(): Promise<void> {
    const { transport, line, waitingJob } = this.dependencies;
    if (line.empty) return;
    const jobs = new Map<string, TurnJobRef>();
    const held = await transport.heldPlaces(settledMs);
    await forEachBounded(held, atOnce, async (place) => {
      const { project, agent } = holderOf(place);
      const job = await waitingJob(project, agent);
      if (job) jobs.set(place, job);
    });
    const live = await transport.liveTurnJobs([...jobs.values()]);
    const left = held.filter((place) => {
      const job = jobs.get(place);
      return job === undefined || !live.has(turnJobId(job));
    });
    if (left.length > 0) transport.givePlacesBack(left);
  }

  /** Whether another round may find a place that this one left. */
  async #round(): Promise<boolean> {
    const { transport, line, schedule } = this.dependencies;
    if (line.empty) return false;
    const { free } = await transport.takePlaces([]);
    if (free === 0) return false;
    const shares = await line.deal(free);
    let moved = false;
    await forEachBounded([...shares], atOnce, async ([project, share]) => {
      const delivered = await schedule(project, share.places);
      // The next sweep puts it back where there is something left to do.
      if (delivered === undefined) await line.leave(project);
      const stays = line.has(project);
      if (!stays || (delivered ?? 0) > 0) moved = true;
      // Another scheduler took what it was dealt.
      if (stays && (delivered ?? 0) < share.places) await line.putBack(project, share);
    });
    return moved;
  }
}
