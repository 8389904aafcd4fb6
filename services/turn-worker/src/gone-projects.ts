import type { ProjectRef } from '@suzumio/protocol/attempts';
import type { Logger } from '@suzumio/runtime/observability/logger';
import type { AttemptRunner } from './attempt/attempt-runner.js';
import type { Engines } from './attempt/host.js';
import type { Workspaces } from './workspace/workspaces.js';

export interface GoneProjectsOptions {
  workspaces: Workspaces;
  engines: Engines;
  attempts: Pick<AttemptRunner, 'gone'>;
  logger: Logger;
}

/**
 * Finds what deleted projects left on this host. A worker is not notified of deletions: it asks about the projects that
 * it stores something of, so that a worker that was offline finds out as well.
 */
export class GoneProjects {
  constructor(private readonly options: GoneProjectsOptions) {}

  /** Removes the workspaces of deleted projects. Returns a predicate for deleted projects. */
  async find(): Promise<(project: ProjectRef) => boolean> {
    const { workspaces, logger } = this.options;
    const gone = new Set<string>();
    for (const project of await this.#ask()) {
      gone.add(keyOf(project));
      await workspaces
        .remove(project)
        .then(() => logger.info(project, 'removed the remains of a deleted project'))
        .catch((error: unknown) => logger.warn({ err: error, ...project }, 'a workspace could not be removed'));
    }
    return (project) => gone.has(keyOf(project));
  }

  async #ask(): Promise<ProjectRef[]> {
    const { workspaces, engines, attempts, logger } = this.options;
    try {
      const kept = [await workspaces.projects()];
      for (const engine of Object.values(engines)) kept.push(await engine.kept());
      const here = new Map(kept.flat().map((project) => [keyOf(project), project]));
      return await attempts.gone([...here.values()]);
    } catch (error) {
      logger.warn({ err: error }, 'the ToolHost could not say which projects were deleted; the next sweep asks again');
      return [];
    }
  }
}

function keyOf({ cell, project, epoch }: ProjectRef): string {
  return [cell, project, epoch].join('/');
}
