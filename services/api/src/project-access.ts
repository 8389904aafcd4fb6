import type { Response } from 'express';
import { hintFrom } from '@suzumio/contract/errors/suggest';
import { isSuzumioError, SuzumioError } from '@suzumio/contract/errors/suzumio-error';
import type { ProjectStore } from '@suzumio/store/projects/project-store';
import { identityOf, requireProject } from './auth.js';
import type { ApiContext } from './context.js';

/**
 * Runs `body` with the store of a project that the request's token may use.
 *
 * @throws SuzumioError `forbidden`, `project-unknown`
 */
export async function withProject<Result>(
  context: ApiContext,
  response: Response,
  project: string,
  body: (store: ProjectStore) => Promise<Result> | Result,
): Promise<Result> {
  requireProject(identityOf(response), project);
  return orUnknown(context, project, context.cell.stores.use(project, body));
}

/** The result of `work`; where the project is unknown, its name may be misspelt. */
export async function orUnknown<Result>(
  { cell, unserved }: ApiContext,
  project: string,
  work: Promise<Result>,
): Promise<Result> {
  try {
    return await work;
  } catch (error) {
    if (!isSuzumioError(error, 'project-unknown')) throw error;
    const shown = project.slice(0, 80);
    const known = cell.catalog.projects.all().map(({ id }) => id);
    // It may be the wrong directory.
    const where = unserved ? ` in ${cell.directory.root}.` : hintFrom(project, known);
    throw new SuzumioError('project-unknown', `There is no project "${shown}"${where}`, { project: shown });
  }
}
