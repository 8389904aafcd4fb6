import { isSuzumioError } from '@suzumio/contract/errors/suzumio-error';
import { dropProfileChanges, dueProfileChanges } from '../memory/profile-changes.js';
import type { ProjectStore } from '../projects/project-store.js';
import type { Catalog } from './catalog.js';

/** How many changes one transaction of the catalog takes: some 100 kB of text. */
const atOnce = 50;

/**
 * Carries what agents of a project did to the notes of profiles to the catalog. It may be repeated, and may run in several
 * processes at once.
 *
 * @throws SuzumioError `store-busy`
 */
export async function carryProfileChanges(
  { profileNotes }: Pick<Catalog, 'profileNotes'>,
  store: ProjectStore,
): Promise<void> {
  for (;;) {
    const due = dueProfileChanges(store.reader, atOnce);
    const last = due.at(-1);
    if (last === undefined) return;
    await profileNotes.carry(store.project, due);
    try {
      await store.write((tx) => dropProfileChanges(tx, last.seq));
    } catch (error) {
      // Deleted meanwhile, with its database: the catalog has them.
      if (isSuzumioError(error, 'project-unknown')) return;
      throw error;
    }
  }
}
