import { isSuzumioError } from '@suzumio/contract/errors/suzumio-error';
import type { Logger } from '@suzumio/runtime/observability/logger';
import type { Metrics } from '@suzumio/runtime/observability/metrics';
import type { Cell } from '@suzumio/store/cell/cell';
import { isMigrating } from '@suzumio/store/projects/large-migrations';
import type { ProjectStore } from '@suzumio/store/projects/project-store';
import { forEachBounded } from './rounds.js';

/** What a project is visited for. */
export type Cause = 'wake' | 'sweep' | 'search' | 'leases' | 'content' | 'refill';

export interface VisitOptions {
  /** Waits for the project where it is being opened for others. @default false */
  readonly wait?: boolean;
  /** Called where there is no such project any more. */
  readonly onUnknown?: () => void;
}

/** How many projects are visited at a time. */
const atOnce = 8;

/** Visits projects. Whatever goes wrong with one stays with it. */
export class Visits {
  /** Projects whose last visit failed, so that a lasting failure is told once. */
  readonly #failing = new Set<string>();
  #stopped = false;

  constructor(
    private readonly cell: Cell,
    private readonly metrics: Metrics,
    private readonly logger: Logger,
  ) {}

  /** Lets visits that have begun go on, and begins no more of those that {@link each} was asked for. */
  stop(): void {
    this.#stopped = true;
  }

  get stopped(): boolean {
    return this.#stopped;
  }

  /** Does something with one project. Returns undefined where that failed. */
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
      // The next sweep sees whether that is done.
      if (isMigrating(error)) return undefined;
      this.metrics.schedulingFailures.inc({ during: cause });
      if (isSuzumioError(error, 'project-unknown')) onUnknown?.();
      // The transport says by itself that it is away; a project that is gone has nothing to be scheduled.
      const expected = isSuzumioError(error, 'server-unreachable', 'project-unknown');
      const level = expected || this.#failing.has(project) ? 'debug' : 'error';
      this.logger[level]({ err: error, project, cause }, 'a project could not be looked after');
      if (!expected) this.#failing.add(project);
      return undefined;
    }
  }

  /** Visits some projects, a bounded number at a time. */
  async each(projects: readonly string[], visit: (project: string) => Promise<unknown>): Promise<void> {
    await forEachBounded(projects, atOnce, visit, () => this.#stopped);
  }
}
