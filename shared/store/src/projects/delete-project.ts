import { projectRow } from '../rows.js';
import type { SqlReader } from '../sqlite/sql.js';
import type { Tx } from '../sqlite/tx.js';
import { cancelTurns } from './project-transitions.js';

/**
 * Ends a project for good: nothing of it runs any more, and no verb is accepted after this one. Its files are removed by
 * whoever asked for this.
 *
 * @param epoch of the project that is meant: one of its name that came later is left alone
 */
export function deleteProject(tx: Tx, epoch: number, actor: string): void {
  if (isDeleted(tx) || projectRow(tx).epoch !== epoch) return;
  cancelTurns(tx, 'all', 'the project was deleted', actor);
  tx.run('UPDATE projects SET deleted_at_ms = :now', { now: tx.nowMs });
}

/** Whether a project is no more, although its file may still be open here and there. */
export function isDeleted(reader: SqlReader): boolean {
  return reader.get('SELECT 1 FROM projects WHERE deleted_at_ms IS NOT NULL') !== undefined;
}
