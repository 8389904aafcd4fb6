import type { ProjectStore } from '@suzumio/store/projects/project-store';
import { deadlinesOf, overdueAttempts } from '@suzumio/store/turns/leases';
import { expireLease, shortenLeases } from '@suzumio/store/turns/report-attempt';

/**
 * When a lease of each project may run out next. A lease is much longer than a sweep takes to come round, so every
 * attempt is known here in time; and a project whose workers are heard of is not looked at for its leases.
 */
export class Leases {
  readonly #deadlines = new Map<string, number>();

  constructor(
    private readonly leaseMs: number,
    private readonly now: () => number,
  ) {}

  /** Looks when a lease of a project may run out. Where the clock has stepped back, its leases last as long as others. */
  async note(store: ProjectStore): Promise<void> {
    const longestMs = this.now() + this.leaseMs;
    const known = deadlinesOf(store.reader);
    if (known === undefined) {
      this.forget(store.project);
      return;
    }
    if (known.lastMs > longestMs) await store.write((tx) => shortenLeases(tx, this.leaseMs));
    this.#deadlines.set(store.project, Math.min(known.firstMs, longestMs));
  }

  forget(project: string): void {
    this.#deadlines.delete(project);
  }

  /** The projects of which a lease may have run out. */
  due(): string[] {
    const nowMs = this.now();
    return [...this.#deadlines].filter(([, at]) => at <= nowMs).map(([project]) => project);
  }

  /** Ends the attempts of a project whose leases have run out, and returns them. */
  async expire(store: ProjectStore): Promise<{ turn: string; attempt: number }[]> {
    const overdue = overdueAttempts(store.reader, this.now());
    const ended =
      overdue.length === 0 ? [] : await store.write((tx) => overdue.filter((attempt) => expireLease(tx, attempt)));
    await this.note(store);
    return ended;
  }
}
