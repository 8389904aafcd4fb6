import { isSuzumioError } from '@suzumio/contract/errors/suzumio-error';
import { problemsOfRepositories } from '@suzumio/runtime/repository/project-repositories';
import { findReads } from '../reach/reach.js';
import type { Session } from '../session.js';
import { broken, type Finding } from './check.js';

/** The most projects whose repositories are inspected. */
const maxProjects = 100;

/** Repositories of this machine that projects clone and no turn could. */
export async function checkRepositories(session: Session): Promise<Finding[]> {
  try {
    const api = await findReads(session);
    const { items } = await api.listProjects({ query: { limit: maxProjects, order: 'desc' } });
    const findings: Finding[] = [];
    for (const { id: project, status } of items) {
      if (status === 'completed') continue;
      for (const { agent, problem } of await problemsOfRepositories(await api.getResolvedConfig({ project })))
        findings.push(
          broken(
            'git',
            `${project}, ${agent}: ${problem.message}`,
            `do that, or write another workspace.git and give it to ${session.suzumio} config apply ${project} FILE`,
          ),
        );
    }
    return findings;
  } catch (error) {
    // Another check reports whether there are projects at all.
    if (isSuzumioError(error)) return [];
    throw error;
  }
}
