import { SuzumioError } from '@suzumio/contract/errors/suzumio-error';
import type { FileCounts } from '@suzumio/contract/model/workspace';
import { agentRow, projectRow, turnRow } from '../rows.js';
import type { SqlReader } from '../sqlite/sql.js';
import type { Tx } from '../sqlite/tx.js';

/** What a workspace is restored to, and how that differs from what it is. */
export interface Restoration {
  agent: string;
  /** The number of the turn; 0 for what was before the first. */
  turn: number;
  before: string | null;
  snapshot: string | null;
  files: FileCounts;
}

/**
 * Makes an earlier snapshot an agent's own. Its next turn begins with it, as does a failed turn that is tried again.
 *
 * @throws SuzumioError `agent-state-refused`, `project-closed`; `workspace-changed` where it has changed meanwhile
 */
export function restoreWorkspace(
  tx: Tx,
  { agent: id, turn, before, snapshot, files }: Restoration,
  actor: string,
): void {
  assertRestorable(tx, id);
  if (agentRow(tx, id).snapshot !== before) {
    throw new SuzumioError(
      'workspace-changed',
      `The workspace of ${id} has changed meanwhile, by a turn or another restoration; nothing was restored. Look at its changes before you ask again.`,
    );
  }
  if (snapshot === before) return;
  const ended = tx.get<{ id: string; number: number }>(
    `SELECT id, number FROM turns WHERE agent_id = :id AND status NOT IN ('queued', 'running') ORDER BY number DESC LIMIT 1`,
    { id },
  );
  tx.run('UPDATE agents SET snapshot = :snapshot WHERE id = :id', { id, snapshot });
  if (ended)
    tx.run('UPDATE turn_captures SET snapshot = :snapshot WHERE turn_id = :turn', { turn: ended.id, snapshot });
  tx.insert('workspace_changes', {
    agent_id: id,
    turn_number: ended?.number ?? 0,
    snapshot_before: before,
    snapshot_after: snapshot,
    files_json: JSON.stringify(files),
    restored_turn: turn,
    actor,
    created_at_ms: tx.nowMs,
  });
  tx.emit({ type: 'workspace.restored', actor, agent: id, data: { turnNumber: turn, files } });
}

/** @throws SuzumioError `agent-unknown`; `project-closed`; `agent-state-refused` while a turn works on the files */
function assertRestorable(reader: SqlReader, id: string): void {
  const agent = agentRow(reader, id);
  const project = projectRow(reader);
  if (project.status === 'completed') {
    throw new SuzumioError('project-closed', `The project ${project.id} is completed: nothing in it changes any more.`);
  }
  if (agent.active_turn_id === null) return;
  const { number, attempt } = turnRow(reader, agent.active_turn_id);
  if (attempt === 0) return;
  throw new SuzumioError(
    'agent-state-refused',
    `Turn ${String(number)} of ${id} works on its files now. Restore them when it has ended, or cancel it first: suzumio cancel ${project.id} ${id}:${String(number)}.`,
    { agent: id, state: agent.state },
  );
}
