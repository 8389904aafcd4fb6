import type { Response } from 'express';
import type { IdempotencyKey } from '@suzumio/store/sqlite/once';
import { identityOf, requireProject } from './auth.js';
import type { ApiContext } from './context.js';
import { orUnknown } from './project-access.js';

/**
 * Deletes a project for a request. Its followers are told as soon as it has ended; workers are, at the next heartbeat of
 * what they run of it.
 *
 * @throws SuzumioError `forbidden`, `project-unknown`, `idempotency-mismatch`
 */
export async function deleteProject(
  { cell, transport, logger }: ApiContext,
  response: Response,
  project: string,
  key: IdempotencyKey | undefined,
): Promise<void> {
  const identity = identityOf(response);
  requireProject(identity, project);
  const deletion = cell.deleteProject(project, {
    actor: identity.name,
    key,
    onStep(step) {
      if (step === 'ended') transport.hint({ project, seq: 0 });
    },
  });
  await orUnknown(cell, project, deletion);
  logger.info({ project, actor: identity.name }, 'a project was deleted');
}
