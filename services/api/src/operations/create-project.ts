import { formatProblem } from '@suzumio/core/config/config-problem';
import { loadProjectText } from '@suzumio/core/profiles/load-project';
import type { LoadedProject } from '@suzumio/core/config/project-source';
import { isSuzumioError, type SuzumioError } from '@suzumio/contract/errors/suzumio-error';
import type { CreateProjectAnswer } from '@suzumio/contract/operations/projects';
import type { SendMessageRequest } from '@suzumio/contract/operations/messages';
import type { Labels } from '@suzumio/contract/model/labels';
import type { Cell } from '@suzumio/store/cell/cell';
import { requireRepositories } from '@suzumio/runtime/repository/project-repositories';
import { readProject } from '@suzumio/store/projects/read-project';
import type { Tx } from '@suzumio/store/sqlite/tx';
import { type IdempotencyKey, once } from '@suzumio/store/sqlite/once';
import { startProject } from '@suzumio/store/projects/project-transitions';
import type { ApiContext } from '../context.js';
import { admitPosted } from './admit-posted.js';
import { postFromUser } from './mail.js';

/** A posted project. */
export interface PostedProject {
  file: string;
  start: boolean;
  message?: SendMessageRequest | undefined;
  labels?: Labels | undefined;
  actor: string;
  key: IdempotencyKey | undefined;
}

/**
 * Creates a project from a posted file; its first mail and its start are in its first transaction. Where any part is
 * refused, nothing is created.
 *
 * @returns the answer, and whether an earlier request got it
 * @throws SuzumioError `invalid-config`, `profile-unknown`, `profile-retired`, `not-supported-yet`, `policy-denied`,
 *   `project-exists`, and what the mail is refused with
 */
export async function createPostedProject(
  context: ApiContext,
  posted: PostedProject,
): Promise<{ answer: CreateProjectAnswer; repeated: boolean }> {
  const { cell } = context;
  const { key } = posted;
  const before = key && cell.catalog.answeredBefore<CreateProjectAnswer>(key);
  if (before) return { answer: before, repeated: true };
  const loaded = loadProjectText(posted.file, 'file', cell.catalog);
  const allowed = admitPosted(context, loaded);
  await requireRepositories(loaded, { mayInspect: (path) => context.host.lookUp(path) !== undefined });
  const { config, sourceText } = loaded;
  const begun: { answer?: CreateProjectAnswer } = {};
  try {
    await cell.createProject({
      config,
      source: sourceText,
      actor: posted.actor,
      labels: posted.labels,
      ...allowed,
      begin: (tx) => {
        begun.answer = once(tx, key, () => beginProject(tx, loaded, posted));
      },
      // The key is recorded in the catalog, which keeps it even if the project is deleted.
      named: (tx) => once(tx, key, () => begun.answer ?? null),
    });
  } catch (error) {
    if (!isSuzumioError(error, 'project-exists') || !key) throw error;
    // The project may be this very request's, from a process that was killed before it answered.
    return { answer: await earlierAnswer(cell, config.name, posted, error), repeated: true };
  }
  if (!begun.answer) throw new Error('a project was made without its first transaction');
  return { answer: begun.answer, repeated: false };
}

async function earlierAnswer(
  cell: Cell,
  project: string,
  { key }: PostedProject,
  exists: SuzumioError,
): Promise<CreateProjectAnswer> {
  const refuse = (): CreateProjectAnswer => {
    throw exists;
  };
  try {
    return await cell.stores.use(project, (store) => store.write((tx) => once(tx, key, refuse)));
  } catch (error) {
    // It is being deleted, and its name is not free yet.
    throw isSuzumioError(error, 'project-unknown') ? exists : error;
  }
}

function beginProject(tx: Tx, loaded: LoadedProject, posted: PostedProject): CreateProjectAnswer {
  const message = posted.message ? postFromUser(tx, posted.message, posted.actor) : null;
  if (posted.start) startProject(tx, posted.actor);
  return {
    project: readProject(tx),
    message,
    warnings: loaded.warnings.map(formatProblem),
    notes: loaded.notes.map(formatProblem),
  };
}
