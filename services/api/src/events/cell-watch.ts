import { setImmediate as nextTick } from 'node:timers/promises';
import { isSuzumioError } from '@suzumio/contract/errors/suzumio-error';
import type { Cell } from '@suzumio/store/cell/cell';
import type { ProjectPosition } from '@suzumio/store/cell/cell-timeline';
import { newestEvent } from '@suzumio/store/projects/events';
import { markOf } from '@suzumio/store/projects/file-mark';

/** Projects that are looked at before anything else has its turn. */
const slice = 200;

/** A search may take one part in so many of a processor's time. */
const share = 20;

export interface CellWatchOptions {
  /** The shortest pause between two searches. @default 1_000 */
  pollMs: number;
  onFailure: (error: unknown) => void;
  /** Called when the timeline has grown. */
  onNews: () => void;
}

/**
 * Puts what happens in a cell's projects into its timeline, while somebody follows it. Hints name the projects that have
 * committed. What hints miss is found by the files: while they are as they were when a project was last read, nothing was
 * committed, and its database is not asked.
 */
export class CellWatch {
  readonly #hinted = new Set<string>();
  #marks: Map<string, string> | undefined;
  #timer: NodeJS.Timeout | undefined;
  #running: Promise<void> | undefined;
  #searches = false;
  #stopped = false;

  constructor(
    private readonly cell: Cell,
    private readonly options: Partial<CellWatchOptions> = {},
  ) {}

  /** A project has committed. */
  hint(project: string): void {
    this.#hinted.add(project);
    this.#run().catch((error: unknown) => this.options.onFailure?.(error));
  }

  /** Resolves when all that was committed before is in the timeline. */
  async settle(): Promise<void> {
    await this.#running?.catch(() => undefined);
    this.#searches = true;
    await this.#run();
  }

  /** Looks through all projects again and again. */
  start(): void {
    const startedMs = performance.now();
    this.settle()
      .catch((error: unknown) => this.options.onFailure?.(error))
      .finally(() => {
        const pauseMs = Math.max(this.options.pollMs ?? 1_000, (performance.now() - startedMs) * share);
        if (!this.#stopped) this.#timer = setTimeout(() => this.start(), pauseMs);
      });
  }

  async stop(): Promise<void> {
    this.#stopped = true;
    clearTimeout(this.#timer);
    await this.#running?.catch(() => undefined);
  }

  #run(): Promise<void> {
    this.#running ??= this.#look().finally(() => {
      this.#running = undefined;
    });
    return this.#running;
  }

  async #look(): Promise<void> {
    while (!this.#stopped && (this.#searches || this.#hinted.size > 0)) {
      const hinted = [...this.#hinted];
      this.#hinted.clear();
      await this.#note(hinted);
      if (!this.#searches) continue;
      this.#searches = false;
      const all = this.cell.catalog.projects.all().map(({ id }) => id);
      for (let from = 0; from < all.length; from += slice) {
        await this.#note(all.slice(from, from + slice));
        await nextTick();
        if (this.#isStopped()) return;
      }
    }
  }

  #isStopped(): boolean {
    return this.#stopped;
  }

  async #note(projects: readonly string[]): Promise<void> {
    const { timeline } = this.cell.catalog;
    this.#marks ??= timeline.marks();
    const positions: ProjectPosition[] = [];
    for (const project of projects) {
      const mark = markOf(this.cell.directory.projectFile(project));
      if (mark !== undefined && this.#marks.get(project) === mark) continue;
      const position = await this.#positionOf(project, mark);
      if (position) positions.push(position);
    }
    const before = timeline.position().newest;
    await timeline.note(positions);
    for (const { project, mark } of positions) {
      if (mark === undefined) this.#marks.delete(project);
      else this.#marks.set(project, mark);
    }
    if (timeline.position().newest !== before) this.options.onNews?.();
  }

  async #positionOf(project: string, mark: string | undefined): Promise<ProjectPosition | undefined> {
    try {
      const at = await this.cell.stores.use(project, (store) => store.snapshot(newestEvent));
      return { project, at, mark };
    } catch (error) {
      if (isSuzumioError(error, 'project-unknown') || isSuzumioError(error, 'store-busy')) return undefined;
      return { project, at: undefined, mark: undefined };
    }
  }
}
