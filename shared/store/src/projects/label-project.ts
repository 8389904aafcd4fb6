import { SuzumioError } from '@suzumio/contract/errors/suzumio-error';
import { type Labels, maxLabels } from '@suzumio/contract/model/labels';
import type { Tx } from '../sqlite/tx.js';
import { readLabels } from './read-project.js';

/**
 * Changes a project's labels: those of `set` are added or replaced, those named in `remove` go, others stay. Where
 * nothing changes, there is no event.
 *
 * @throws SuzumioError `invalid-request` where the project would have too many
 */
export function labelProject(
  tx: Tx,
  { set, remove, actor }: { set: Labels; remove: readonly string[]; actor: string },
): void {
  const before = readLabels(tx);
  const added = Object.fromEntries(Object.entries(set).filter(([key, value]) => before[key] !== value));
  const removed = [...new Set(remove)].filter((key) => key in before);
  if (removed.length === 0 && Object.keys(added).length === 0) return;
  const kept = Object.entries(before).filter(([key]) => !removed.includes(key));
  const after: Labels = { ...Object.fromEntries(kept), ...added };
  const count = Object.keys(after).length;
  if (count > maxLabels) {
    throw new SuzumioError(
      'invalid-request',
      `The project would have ${count} labels, and may have ${maxLabels}: remove ${count - maxLabels} in the same request.`,
    );
  }
  tx.run('UPDATE projects SET labels_json = :labels', { labels: JSON.stringify(after) });
  tx.emit({ type: 'project.labelled', actor, data: { set: added, removed } });
}
