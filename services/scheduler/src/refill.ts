import { turnJobId, type TurnJobRef } from '@suzumio/protocol/turn-job';
import { holderOf } from '@suzumio/runtime/queue/jobs';
import type { Transport } from '@suzumio/runtime/queue/transport';
import type { Cell } from '@suzumio/store/cell/cell';
import { unclaimedDelivery } from '@suzumio/store/turns/deliver-turn';
import { forEachBounded } from './rounds.js';
import type { ProjectScheduler } from './schedule-project.js';
import type { Visits } from './visits.js';

const atOnce = 8;
/**
 * How many rounds one run makes. Places that are still free then were freed by new claims, each of which asks for a run
 * of its own.
 */
const mostRounds = 4;
/** A place held for less than this belongs to a turn that is being put on the queue. */
const settledMs = 5_000;

/** Deals the queue's free places to waiting projects. */
export class Refill {
  /** Projects whose turns need a job again because a lease ran out. */
  readonly #requeued = new Set<string>();
  /** Whether the next run reclaims places without a job. */
  #reclaims = false;

  constructor(
    private readonly cell: Cell,
    private readonly transport: Transport,
    private readonly visits: Visits,
    private readonly projects: ProjectScheduler,
  ) {}

  /** Makes the next run schedule these projects first. */
  scheduleNext(projects: readonly string[]): void {
    for (const project of projects) this.#requeued.add(project);
  }

  /** Makes the next run reclaim places without a job. */
  reclaimNext(): void {
    this.#reclaims = true;
  }

  /** @throws SuzumioError `server-unreachable` when the queue cannot be reached */
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

  /** Fills the queue. Costs one read while no project waits. */
  async #fill(): Promise<void> {
    for (let round = 0; round < mostRounds; round += 1) if (!(await this.#round())) return;
  }

  /**
   * Finds places whose job has left the queue, because a process died or the job was dropped without a claim, and frees
   * them: their turns get a place again like all others. This only matters where projects wait.
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

  /** Deals once; returns whether another round may find a free place. */
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
      // The next sweep adds the project again where it has something to do.
      if (delivered === undefined) await line.leave(project);
      const stays = line.has(project);
      if (!stays || (delivered ?? 0) > 0) moved = true;
      // Another scheduler took the places that the project was dealt.
      if (stays && (delivered ?? 0) < share.places) await line.putBack(project, share);
    });
    return moved;
  }
}
