import { storedKinds } from '@suzumio/contract/model/storage';
import type { Logger } from '@suzumio/runtime/observability/logger';
import type { Metrics } from '@suzumio/runtime/observability/metrics';
import type { Transport } from '@suzumio/runtime/queue/transport';
import type { Cell } from '@suzumio/store/cell/cell';
import type { ProjectStore } from '@suzumio/store/projects/project-store';
import { StoredSum } from '@suzumio/store/content/storage';
import type { ActiveTurns } from '@suzumio/store/turns/read-turns';

/** How often a project's stored bytes are read. */
const askAgainMs = 15_000;

/** The gauges of the whole cell. Every scheduler finds the same values. */
export class CellFigures {
  /** The stored bytes of each project, at its last visit. */
  readonly #stored = new Map<string, { askedMs: number; sum: StoredSum }>();

  constructor(
    private readonly cell: Cell,
    private readonly transport: Transport,
    private readonly metrics: Metrics,
    private readonly logger: Logger,
  ) {}

  /** Reads a project's stored bytes, unless that was done recently. */
  note({ project, reader }: ProjectStore): void {
    const known = this.#stored.get(project);
    if (known && performance.now() - known.askedMs < askAgainMs) return;
    const sum = new StoredSum(this.cell.storage);
    sum.add(reader);
    this.#stored.set(project, { askedMs: performance.now(), sum });
  }

  async tell({ queued, running }: ActiveTurns): Promise<void> {
    const { metrics } = this;
    metrics.turnsQueued.set(queued);
    metrics.turnsRunning.set(running);
    this.#tellStorage();
    try {
      metrics.turnJobsWaiting.set((await this.transport.turnJobs()).waiting);
    } catch (error) {
      metrics.turnJobsWaiting.remove();
      this.logger.debug({ err: error }, 'the length of the queue could not be read');
    }
  }

  #tellStorage(): void {
    const { cell, metrics } = this;
    const projects = new Set(cell.catalog.projects.all().map(({ id }) => id));
    for (const project of [...this.#stored.keys()]) if (!projects.has(project)) this.#stored.delete(project);
    const sums = [...this.#stored.values()].map(({ sum }) => sum);
    for (const kind of storedKinds) {
      metrics.storedBytes.set(
        { kind },
        sums.reduce((total, { bytes }) => total + bytes[kind], 0),
      );
    }
    metrics.projectsOverQuota.set(sums.filter(({ projectsOverQuota }) => projectsOverQuota > 0).length);
    metrics.diskFree.set(cell.disk.free.bytes);
    for (const use of ['files', 'rows', 'mail'] as const) {
      metrics.diskShort.set({ use }, cell.disk.isShortFor(use) ? 1 : 0);
    }
  }
}
