import { turnJobId, type TurnJobRef } from '@suzumio/protocol/turn-job';
import { holderOf } from '@suzumio/runtime/queue/jobs';
import type { Transport } from '@suzumio/runtime/queue/transport';
import type { Cell } from '@suzumio/store/cell/cell';
import { unclaimedDelivery } from '@suzumio/store/turns/deliver-turn';
import { forEachBounded } from './rounds.js';
import type { ProjectScheduler } from './schedule-project.js';
import type { Visits } from './visits.js';

const atOnce = 8;
/** What is free after so many rounds of one look is of claims that came meanwhile: each asks for a look of its own. */
const mostRounds = 4;
/** A place that has been held for less than this belongs to a turn that is just being put on the queue. */
const settledMs = 5_000;

/** Deals the places of the queue that are free to the projects that wait for some. */
export class Refill {
  /** Projects whose turns wait for a job again because a lease ran out. */
  readonly #requeued = new Set<string>();
  /** Whether places that no job has are looked for next time. */
  #reclaims = false;

  constructor(
    private readonly cell: Cell,
    private readonly transport: Transport,
    private readonly visits: Visits,
    private readonly projects: ProjectScheduler,
  ) {}

  /** Has these projects scheduled first by the next run. */
  scheduleNext(projects: readonly string[]): void {
    for (const project of projects) this.#requeued.add(project);
  }

  /** Has the next run look for places that no job has any more. */
  reclaimNext(): void {
    this.#reclaims = true;
  }

  /** @throws SuzumioError `server-unreachable` when the queue is away */
  async run(): Promise<void> {
    const requeued = [...this.#requeued];
    this.#requeued.clear();
    const reclaims = this.#reclaims;
    this.#reclaims = false;
    await forEachBounded(requeued, atOnce, async (project) => {
      await this.visits.one('leases', project, (store) => this.projects.schedule(store));
    });
    if (this.cell.catalog.pause.current !== null) return;
    if (reclaims) await this.#reclaim();
    await this.#fill();
  }

  /** Fills the queue. While no project waits it costs one read. */
  async #fill(): Promise<void> {
    for (let round = 0; round < mostRounds; round += 1) if (!(await this.#round())) return;
  }

  /**
   * Finds places for which no job is in the queue any more, because a process died, or a job was dropped without a claim,
   * and gives them back: their turns get a place again like all others. Only where projects wait does it matter.
   */
  async #reclaim(): Promise<void> {
    const { transport } = this;
    if (this.cell.catalog.waitingLine.empty) return;
    const jobs = new Map<string, TurnJobRef>();
    const held = await transport.heldPlaces(settledMs);
    await forEachBounded(held, atOnce, async (place) => {
      const { project, agent } = holderOf(place);
      const job = await this.visits.one('refill', project, ({ reader }): TurnJobRef | undefined => {
        const delivery = unclaimedDelivery(reader, agent);
        return delivery && { cell: this.cell.id, ...delivery };
      });
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
    const line = this.cell.catalog.waitingLine;
    if (line.empty) return false;
    const { free } = await this.transport.takePlaces([]);
    if (free === 0) return false;
    const shares = await line.deal(free);
    let moved = false;
    await forEachBounded([...shares], atOnce, async ([project, share]) => {
      const delivered = await this.visits.one('refill', project, (store) =>
        this.projects.schedule(store, share.places),
      );
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
