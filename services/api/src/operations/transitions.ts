import type { OperationShape } from '@suzumio/contract/operations/operation';
import type { Json, Tx } from '@suzumio/store/sqlite/tx';
import type { Call } from '../call.js';
import { commitOnce } from '../commit-once.js';
import type { ApiContext } from '../context.js';

/**
 * Commits a transition of a project, or another change of what the catalog repeats. The catalog may err towards `running`,
 * never the other way round: so it is updated before a transition to `running`, and always afterwards, even after a
 * failure. Before new labels, it is marked for a sweep to compare, in case this process is killed.
 */
export async function transition<Answer extends Json>(
  call: Call<ProjectShape>,
  to: 'running' | 'stopped' | 'completed' | 'labelled',
  verb: (tx: Tx) => Answer,
): Promise<Answer> {
  const { context, key } = call;
  const { project } = call.params;
  const { cell, transport } = context;
  const { answer } = await call.withProject(async (store) => {
    if (to === 'running') await cell.catalog.projects.noteRunning(project);
    if (to === 'labelled') await cell.catalog.projects.noteChange(project);
    try {
      return await commitOnce(store, key, verb);
    } finally {
      await noteStatus(context, project);
    }
  });
  if (to === 'running') transport.wake(project);
  return answer;
}

type ProjectShape = OperationShape & { path: '/api/projects/:project' };

/** A failed update of the catalog undoes nothing: the next sweep finds the difference. */
async function noteStatus({ cell, logger }: ApiContext, project: string): Promise<void> {
  try {
    await cell.noteStatus(project);
  } catch (error) {
    logger.warn({ err: error, project }, 'the catalog could not be updated with the status of a project');
  }
}
