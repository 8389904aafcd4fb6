import { randomBytes } from 'node:crypto';
import { existsSync, renameSync } from 'node:fs';
import { readdir, rm } from 'node:fs/promises';
import { join } from 'node:path';
import { isSuzumioError } from '@suzumio/contract/errors/suzumio-error';
import { carryProfileChanges } from './carry-profile-changes.js';
import type { Catalog } from './catalog.js';
import { syncDirectory } from '../content/content-store.js';
import type { DataDirectory } from './data-directory.js';
import type { PendingDeletion } from './project-deletions.js';
import type { ProjectStores } from './project-stores.js';
import { projectRow } from '../rows.js';
import type { IdempotencyKey } from '../sqlite/once.js';

/**
 * The steps of a deletion, in order. Each is durable before the next, and repeating it changes nothing.
 *
 * - `announced`: the catalog has recorded it; the deletion is finished even if this process dies
 * - `ended`: the project's database has recorded it; its turns are cancelled, and no verb is accepted any more
 * - `unnamed`: its directory is moved aside, and its name is free
 * - `removed`: its files are gone
 */
export type DeletionStep = 'announced' | 'ended' | 'unnamed' | 'removed';

export interface DeletionRequest {
  actor: string;
  key?: IdempotencyKey | undefined;
  /** Called after each step. */
  onStep?: (step: DeletionStep) => void | Promise<void>;
}

/** Where projects are. */
interface Place {
  directory: DataDirectory;
  catalog: Catalog;
  stores: ProjectStores;
}

/** Prefix of directories that are being removed; no project's name has it. */
const removedPrefix = '.gone-';

/**
 * Deletes a project. A deletion that another process has begun is finished, alongside it.
 *
 * @throws SuzumioError `project-unknown`, `idempotency-mismatch`, `store-busy`
 */
export async function deleteProject(place: Place, project: string, request: DeletionRequest): Promise<void> {
  const { deletions } = place.catalog;
  const found = deletions.pendingEpoch(project) ?? (await epochOf(place, project));
  await deletions.announce(project, found, request.key);
  await request.onStep?.('announced');
  // None is pending where an earlier request with this key was answered: another project may have the name by now.
  const epoch = deletions.pendingEpoch(project);
  if (epoch !== undefined) await finishDeletion(place, { project, epoch }, request);
}

/** A project that could not be recovered, and why. */
export interface BrokenProject {
  project: string;
  error: unknown;
}

/**
 * Finishes the deletions during which a process was killed.
 *
 * @returns those that cannot be finished
 */
export async function finishDeletions(place: Place): Promise<BrokenProject[]> {
  const broken: BrokenProject[] = [];
  for (const deletion of place.catalog.deletions.pending()) {
    await finishDeletion(place, deletion, { actor: 'system' }).catch((error: unknown) => {
      broken.push({ project: deletion.project, error });
    });
  }
  const { projectsDir } = place.directory;
  for (const name of await readdir(projectsDir)) {
    if (!name.startsWith(removedPrefix)) continue;
    await removeFiles(join(projectsDir, name)).catch((error: unknown) => {
      broken.push({ project: name, error });
    });
  }
  return broken;
}

/**
 * Removes the directory of a deleted project that the catalog does not know: a power cut undid the directory's move, or
 * the catalog was lost.
 */
export async function discardDeleted({ directory, catalog, stores }: Place, project: string): Promise<void> {
  if (!existsSync(directory.projectFile(project))) return;
  stores.forget(project);
  const { from, to } = wayOut(directory, project);
  await catalog.deletions.ifUnknown(project, () => renameSync(from, to));
  await removeFiles(to);
}

async function finishDeletion(
  { directory, catalog, stores }: Place,
  deletion: PendingDeletion,
  { actor, onStep }: DeletionRequest,
): Promise<void> {
  const { project } = deletion;
  await carryChanges({ catalog, stores }, deletion);
  await stores.delete(deletion, actor);
  await onStep?.('ended');
  stores.forget(project);
  const { from, to } = wayOut(directory, project);
  await catalog.deletions.finish(deletion, () => {
    if (existsSync(from)) renameSync(from, to);
  });
  await syncDirectory(directory.projectsDir);
  await onStep?.('unnamed');
  await removeFiles(to);
  await onStep?.('removed');
}

/** What agents did to the notes of profiles outlives the project. */
async function carryChanges({ catalog, stores }: Omit<Place, 'directory'>, { project, epoch }: PendingDeletion) {
  try {
    await stores.use(project, async (store) => {
      if (projectRow(store.reader).epoch === epoch) await carryProfileChanges(catalog, store);
    });
  } catch (error) {
    if (!isSuzumioError(error, 'project-unknown')) throw error;
  }
}

function wayOut(directory: DataDirectory, project: string): { from: string; to: string } {
  const to = join(directory.projectsDir, `${removedPrefix}${randomBytes(6).toString('hex')}`);
  return { from: directory.projectDir(project), to };
}

async function epochOf({ stores, catalog }: Place, project: string): Promise<number | undefined> {
  try {
    return await stores.use(project, ({ reader }) => projectRow(reader).epoch);
  } catch (error) {
    if (isSuzumioError(error, 'project-unknown')) return undefined;
    // Its last epoch is in the catalog, too.
    if (isSuzumioError(error, 'store-missing')) return catalog.projects.firstEpoch(project);
    throw error;
  }
}

/** Another process may be removing the same files. */
async function removeFiles(path: string): Promise<void> {
  await rm(path, { recursive: true, force: true, maxRetries: 5 });
}
