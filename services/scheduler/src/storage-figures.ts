import { type StorageLimits, storedKinds } from '@suzumio/contract/model/storage';
import type { Metrics } from '@suzumio/runtime/observability/metrics';
import type { DiskSpace } from '@suzumio/store/sqlite/disk-space';
import type { ProjectStore } from '@suzumio/store/projects/project-store';
import { StoredSum } from '@suzumio/store/content/storage';

/** No project is asked more often than this what it has stored. */
const askAgainMs = 15_000;

/** What all projects have stored, as metrics tell of it: what each said when it was last looked at. */
export class StorageFigures {
  readonly #projects = new Map<string, { askedMs: number; sum: StoredSum }>();

  constructor(
    private readonly limits: StorageLimits,
    private readonly disk: DiskSpace,
    private readonly now: () => number,
  ) {}

  note({ project, reader }: ProjectStore): void {
    const known = this.#projects.get(project);
    if (known && this.now() - known.askedMs < askAgainMs) return;
    const sum = new StoredSum(this.limits);
    sum.add(reader);
    this.#projects.set(project, { askedMs: this.now(), sum });
  }

  /** @param projects those that there are */
  tell(metrics: Metrics, projects: readonly string[]): void {
    const there = new Set(projects);
    for (const project of [...this.#projects.keys()]) if (!there.has(project)) this.#projects.delete(project);
    const sums = [...this.#projects.values()].map(({ sum }) => sum);
    for (const kind of storedKinds) {
      metrics.storedBytes.set(
        { kind },
        sums.reduce((total, { bytes }) => total + bytes[kind], 0),
      );
    }
    metrics.projectsOverQuota.set(sums.filter(({ projectsOverQuota }) => projectsOverQuota > 0).length);
    metrics.diskFree.set(this.disk.freeBytes);
    for (const use of ['files', 'rows', 'mail'] as const) {
      metrics.diskShort.set({ use }, this.disk.isShortFor(use) ? 1 : 0);
    }
  }
}
