import { SuzumioError } from '@suzumio/contract/errors/suzumio-error';

/** There is no project of this name, or no more. */
export function unknownProject(project: string): SuzumioError {
  return new SuzumioError('project-unknown', `There is no project "${project}" in this data directory.`, { project });
}
