import type { Logger } from '@suzumio/runtime/observability/logger';
import type { Metrics } from '@suzumio/runtime/observability/metrics';
import type { Cell } from '@suzumio/store/cell/cell';
import type { ProjectStore } from '@suzumio/store/projects/project-store';
import { deadlinesOf, expireLease, overdueAttempts, shortenLeases } from '@suzumio/store/turns/leases';
import type { Visits } from './visits.js';

/**
 * Ends attempts whose leases have run out. It remembers when a lease of each project may run out next: a lease is much
 * longer than a sweep, so every attempt is known here in time; projects with regular heartbeats are not read for their
 * leases.
 */
export class LeaseCheck {
  readonly #deadlines = new Map<string, number>();

  constructor(
    private readonly cell: Cell,
    private readonly visits: Visits,
    private readonly tell: { readonly metrics: Metrics; readonly logger: Logger },
    /** The length of a lease, and how long a ToolHost must have served before one is judged. */
    private readonly leaseMs: number,
  ) {
    tell.metrics.leasesExpired.inc({}, 0);
  }

  /**
   * Records when a lease of a project may run out. Where the clock has stepped back, its leases are shortened to the
   * usual length.
   */
  async note(store: ProjectStore): Promise<void> {
    const longestMs = this.cell.context.now() + this.leaseMs;
    const known = deadlinesOf(store.reader);
    if (known === undefined) {
      this.#deadlines.delete(store.project);
      return;
    }
    if (known.lastMs > longestMs) await store.write((tx) => shortenLeases(tx, this.leaseMs));
    this.#deadlines.set(store.project, Math.min(known.firstMs, longestMs));
  }

  /** @returns the projects with ended attempts, whose turns need jobs again */
  async run(): Promise<string[]> {
    const nowMs = this.cell.context.now();
    const due = [...this.#deadlines].filter(([, at]) => at <= nowMs).map(([project]) => project);
    if (due.length === 0) return [];
    const servingSince = this.cell.catalog.processes.toolhostServingSince();
    if (servingSince === undefined || nowMs - servingSince < this.leaseMs) return [];
    const requeued: string[] = [];
    await this.visits.each(due, async (project) => {
      const onUnknown = () => this.#deadlines.delete(project);
      const ended = await this.visits.one('leases', project, (store) => this.#expire(store), { onUnknown });
      if (ended === true) requeued.push(project);
    });
    return requeued;
  }

  /** Whether an attempt of the project was ended. */
  async #expire(store: ProjectStore): Promise<boolean> {
    const { metrics, logger } = this.tell;
    const overdue = overdueAttempts(store.reader, this.cell.context.now());
    const ended =
      overdue.length === 0 ? [] : await store.write((tx) => overdue.filter((attempt) => expireLease(tx, attempt)));
    await this.note(store);
    for (const { turn, attempt } of ended) {
      metrics.leasesExpired.inc({});
      logger.warn({ project: store.project, turn, attempt }, 'a lease ran out without a heartbeat');
    }
    return ended.length > 0;
  }
}
