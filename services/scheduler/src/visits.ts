import { isSuzumioError } from '@suzumio/contract/errors/suzumio-error';
import type { Logger } from '@suzumio/runtime/observability/logger';
import type { Metrics } from '@suzumio/runtime/observability/metrics';
import type { Cell } from '@suzumio/store/cell/cell';
import { isMigrating } from '@suzumio/store/projects/large-migrations';
import type { ProjectStore } from '@suzumio/store/projects/project-store';
import { forEachBounded } from './rounds.js';

/** Why a project is visited. */
export type Cause = 'wake' | 'sweep' | 'search' | 'leases' | 'content' | 'refill' | 'figures' | 'check';

export interface VisitOptions {
  /** Whether to wait for a project that is being migrated. @default false */
  readonly wait?: boolean;
  /** Called where the project no longer exists. */
  readonly onUnknown?: () => void;
}

/** How many projects are visited concurrently. */
const atOnce = 8;

/** Visits projects. An error in one does not affect the others. */
export class Visits {
  /** Projects whose last visit failed, so that a lasting failure is logged once. */
  readonly #failing = new Set<string>();
  #stopped = false;

  constructor(
    private readonly cell: Cell,
    private readonly metrics: Metrics,
    private readonly logger: Logger,
  ) {}

  /** Finishes running visits, and begins no more. */
  stop(): void {
    this.#stopped = true;
  }

  get stopped(): boolean {
    return this.#stopped;
  }

  /** Visits one project. Returns undefined where that failed. */
  async one<Result>(
    cause: Cause,
    project: string,
    body: (store: ProjectStore) => Promise<Result> | Result,
    { wait = false, onUnknown }: VisitOptions = {},
  ): Promise<Result | undefined> {
    try {
      const result = await this.cell.stores.use(project, body, { wait });
      this.#failing.delete(project);
      return result;
    } catch (error) {
      // The next sweep tries again.
      if (isMigrating(error)) return undefined;
      this.metrics.schedulingFailures.inc({ during: cause });
      if (isSuzumioError(error, 'project-unknown')) onUnknown?.();
      // The transport logs outages itself; a deleted project needs no scheduling.
      const expected = isSuzumioError(error, 'server-unreachable', 'project-unknown');
      const level = expected || this.#failing.has(project) ? 'debug' : 'error';
      this.logger[level]({ err: error, project, cause }, 'a project could not be looked after');
      if (!expected) this.#failing.add(project);
      return undefined;
    }
  }

  /** Visits several projects, a bounded number concurrently. */
  async each(projects: readonly string[], visit: (project: string) => Promise<unknown>): Promise<void> {
    await forEachBounded(projects, atOnce, visit, () => this.#stopped);
  }
}
