import type { ProjectStore } from '@suzumio/store/projects/project-store';
import type { AttemptRow } from '@suzumio/store/rows';
import { type CountedChange, snapshotBefore } from '@suzumio/store/workspaces/workspace-changes';
import type { ToolhostContext } from './context.js';

/**
 * Counts the files that a turn has changed, before the transaction that records it.
 *
 * @param snapshot what the turn has left; undefined where it has no workspace
 * @returns undefined where nothing has changed, or it cannot be counted: the turn counts all the same
 */
export async function countChanges(
  { cell, snapshots, logger }: ToolhostContext,
  store: ProjectStore,
  { status, turn_id }: AttemptRow,
  snapshot: string | null | undefined,
): Promise<CountedChange | undefined> {
  if (snapshot === undefined || status !== 'running') return undefined;
  const before = snapshotBefore(store.reader, turn_id);
  if (before === snapshot) return undefined;
  try {
    const asked = { before, after: snapshot, page: { limit: 0 } };
    const { files, onlyIndex } = await snapshots.read(cell.directory.projectDir(store.project), 'compare', asked);
    return { before, files, onlyIndex };
  } catch (error) {
    logger.warn({ err: error, project: store.project, turn: turn_id }, "a turn's changed files could not be counted");
    return undefined;
  }
}
