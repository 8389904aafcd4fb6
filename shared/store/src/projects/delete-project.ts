import { projectRow } from '../rows.js';
import type { SqlReader } from '../sqlite/sql.js';
import type { Tx } from '../sqlite/tx.js';
import { cancelTurns } from './project-transitions.js';

/**
 * Ends a project for good: its turns are cancelled, and no verb is accepted after this one. The caller removes its
 * files.
 *
 * @param epoch of the project to delete: a later project of its name is left alone
 */
export function deleteProject(tx: Tx, epoch: number, actor: string): void {
  if (isDeleted(tx) || projectRow(tx).epoch !== epoch) return;
  cancelTurns(tx, 'all', 'the project was deleted', actor);
  tx.run('UPDATE projects SET deleted_at_ms = :now', { now: tx.nowMs });
}

/** Whether a project is deleted, although its file may still be open. */
export function isDeleted(reader: SqlReader): boolean {
  return reader.get('SELECT 1 FROM projects WHERE deleted_at_ms IS NOT NULL') !== undefined;
}
