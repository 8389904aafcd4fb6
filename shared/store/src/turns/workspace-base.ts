import { cloneOf } from '@suzumio/core/config/sandbox-of';
import type { ProjectConfig } from '@suzumio/contract/model/project-config';
import { type CloneRequest, type Repository, repositoryOf, type WorkspaceBase } from '@suzumio/protocol/repository';
import { attemptRow, turnRow } from '../rows.js';
import type { SqlReader } from '../sqlite/sql.js';
import type { Tx } from '../sqlite/tx.js';
import { assertRunning, type AttemptId } from './authorize.js';

/** The repository in an agent's workspace; undefined while it was not cloned. */
export function repositoryOfAgent(reader: SqlReader, config: ProjectConfig, agent: string): Repository | undefined {
  const clone = cloneOf(config, agent);
  const base = clone === undefined ? undefined : baseOf(reader, agent);
  return clone === undefined || base === undefined ? undefined : repositoryOf(clone, base);
}

/** The repository that an agent's workspace is to become a clone of before its next turn. */
export function dueClone(reader: SqlReader, config: ProjectConfig, agent: string): CloneRequest | undefined {
  const clone = cloneOf(config, agent);
  return clone === undefined || baseOf(reader, agent) !== undefined ? undefined : clone;
}

/**
 * Records the clone that a workspace begins with: all later attempts begin with this snapshot, and patches are made
 * against this commit. A repeated report changes nothing.
 *
 * @throws SuzumioError `attempt-over`
 */
export function recordBase(tx: Tx, config: ProjectConfig, id: AttemptId, { commit, snapshot }: WorkspaceBase): void {
  assertRunning(attemptRow(tx, id.turn, id.attempt), id);
  const { agent_id: agent } = turnRow(tx, id.turn);
  const clone = cloneOf(config, agent);
  if (!clone || baseOf(tx, agent) !== undefined) return;
  tx.run(
    `INSERT INTO workspace_bases (agent_id, commit_id, turn_id, created_at_ms) VALUES (:agent, :commit, :turn, :now)`,
    { agent, commit, turn: id.turn, now: tx.nowMs },
  );
  tx.run('UPDATE agents SET snapshot = :snapshot WHERE id = :agent', { snapshot, agent });
  const { name, ref, branch } = repositoryOf(clone, commit);
  tx.emit({
    type: 'workspace.cloned',
    actor: 'system',
    agent,
    turn: id.turn,
    data: { repository: name, ...(ref === undefined ? {} : { ref }), branch, commit },
  });
}

function baseOf(reader: SqlReader, agent: string): string | undefined {
  return reader.get<{ commit_id: string }>('SELECT commit_id FROM workspace_bases WHERE agent_id = :agent', { agent })
    ?.commit_id;
}
