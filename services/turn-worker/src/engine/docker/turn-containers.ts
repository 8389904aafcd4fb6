import type Docker from 'dockerode';
import type { Container, ContainerInfo } from 'dockerode';
import type { ProjectRef, SandboxLimits } from '@suzumio/protocol/attempts';
import type { Logger } from '@suzumio/runtime/observability/logger';
import { engineFailure, statusOf } from './engine-errors.js';
import { agentOf, keepForLabel, mayRun, projectOf, workerLabel } from './labels.js';

/** How many ended containers of one agent are kept for inspection: repeated failures must not fill the disk. */
const keptPerAgent = 3;

export interface TurnContainersOptions {
  docker: Docker;
  /** The worker whose containers these are. */
  worker: string;
  /** How long after its creation a container may be started. */
  startWithinMs: number;
  logger: Logger;
}

/** A worker's containers of turns: which of them stay after their turn, and how the others go. */
export class TurnContainers {
  /** Those that are still wanted, by id. */
  readonly #live = new Set<string>();
  readonly #removals = new Set<Promise<void>>();

  constructor(private readonly options: TurnContainersOptions) {}

  /** Until it is released, a container is in use. */
  begin(id: string): void {
    this.#live.add(id);
  }

  /** Lets a container go whose turn is over; in the background, unless it is to be kept. */
  release(container: Container, { keep }: Pick<SandboxLimits, 'keep'>, outcome: 'completed' | 'failed'): void {
    this.#live.delete(container.id);
    if (keep === 'always' || (keep === 'failed' && outcome === 'failed')) return;
    const removal = this.#remove(container)
      .catch((error: unknown) =>
        this.options.logger.warn(
          { err: error, container: container.id },
          'a container could not be removed; the sweep will try again',
        ),
      )
      .finally(() => this.#removals.delete(removal));
    this.#removals.add(removal);
  }

  /** Removals that have begun. */
  async settled(): Promise<void> {
    await Promise.all(this.#removals);
  }

  /** Removes running containers with these labels, and returns how many were spared. */
  async removeRunning(
    labels: string[],
    isSpared: (labels: ContainerInfo['Labels']) => boolean = () => false,
  ): Promise<number> {
    try {
      const filters = { label: labels, status: mayRun };
      const found = await this.options.docker.listContainers({ all: true, filters });
      const toGo = found.filter(({ Labels: its }) => !isSpared(its));
      await Promise.all(toGo.map(({ Id: id }) => this.#remove(this.options.docker.getContainer(id))));
      return found.length - toGo.length;
    } catch (error) {
      throw engineFailure(error, 'remove older containers');
    }
  }

  /** The projects whose ended containers are still there. */
  async kept(): Promise<ProjectRef[]> {
    return (await this.#notRunning()).flatMap(({ Labels: labels }) => projectOf(labels) ?? []);
  }

  /** Removes ended containers that are no longer worth keeping, and those of projects that are gone. */
  async sweep(isGone: (project: ProjectRef) => boolean): Promise<void> {
    const newest = new Map<string, number>();
    const ended = (await this.#notRunning()).sort((a, b) => b.Created - a.Created);
    for (const { Id: id, Labels: labels } of ended) {
      const container = this.options.docker.getContainer(id);
      const overSince = await this.#overSince(container);
      if (overSince === undefined || this.#live.has(id)) continue;
      const project = projectOf(labels);
      const agent = agentOf(labels);
      const newer = newest.get(agent) ?? 0;
      const isOfUse = newer < keptPerAgent && Date.now() - overSince < Number(labels[keepForLabel] ?? 0);
      if (isOfUse) newest.set(agent, newer + 1);
      if (!isOfUse || (project && isGone(project))) await this.#remove(container);
    }
  }

  /** Those that have ended or not started. */
  async #notRunning(): Promise<ContainerInfo[]> {
    const filters = { label: [workerLabel(this.options.worker)], status: ['exited', 'dead', 'created'] };
    return this.options.docker.listContainers({ all: true, filters });
  }

  /** Since when a container is obsolete; undefined while it may be in use, or where it is gone. */
  async #overSince(container: Container): Promise<number | undefined> {
    try {
      const { State: state, Created: created } = await container.inspect();
      // A created container may be about to start: its creator has this long to start it.
      if (state.Status === 'created') return Date.parse(created) + this.options.startWithinMs;
      if (mayRun.includes(state.Status)) return undefined;
      return Math.max(Date.parse(state.FinishedAt), Date.parse(created));
    } catch (error) {
      if (statusOf(error) === 404) return undefined;
      throw error;
    }
  }

  /** Removes a container, killing it if it runs. */
  async #remove(container: Container): Promise<void> {
    try {
      await container.remove({ force: true, v: true });
    } catch (error) {
      if (statusOf(error) === 404) return;
      // Another request is removing it.
      if (statusOf(error) !== 409) throw error;
      await container.wait({ condition: 'removed' }).catch((gone: unknown) => {
        if (statusOf(gone) !== 404) throw gone;
      });
    }
  }
}
