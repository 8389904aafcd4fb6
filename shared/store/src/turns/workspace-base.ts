import { cloneOf } from '@suzumio/core/config/sandbox-of';
import type { ProjectConfig } from '@suzumio/contract/model/project-config';
import { type CloneRequest, type Repository, repositoryOf, type WorkspaceBase } from '@suzumio/protocol/repository';
import { attemptRow, turnRow } from '../rows.js';
import type { SqlReader } from '../sqlite/sql.js';
import type { Tx } from '../sqlite/tx.js';
import { assertRunning, type AttemptId } from './authorize.js';
import { upstreamOf } from './upstream-looks.js';
import { baseRow } from './workspace-base-row.js';

/** The repository in an agent's workspace, as a turn is told of it; undefined while it was not cloned. */
export function repositoryOfAgent(
  reader: SqlReader,
  config: ProjectConfig,
  agent: string,
  turn: string,
): Repository | undefined {
  const clone = cloneOf(config, agent);
  const base = clone === undefined ? undefined : baseRow(reader, agent)?.commit_id;
  if (clone === undefined || base === undefined) return undefined;
  const upstream = upstreamOf(reader, turn);
  return { ...repositoryOf(clone, base), ...(upstream ? { upstream } : {}) };
}

/** The repository that an agent's workspace is to become a clone of before its next turn. */
export function dueClone(reader: SqlReader, config: ProjectConfig, agent: string): CloneRequest | undefined {
  const clone = cloneOf(config, agent);
  return clone === undefined || baseRow(reader, agent) !== undefined ? undefined : clone;
}

/**
 * Records the clone that a workspace begins with: all later attempts begin with this snapshot, and patches are made
 * against this commit. A repeated report changes nothing.
 *
 * @throws SuzumioError `attempt-over`
 */
export function recordBase(tx: Tx, config: ProjectConfig, id: AttemptId, base: WorkspaceBase): void {
  const { commit, snapshot, tracked } = base;
  assertRunning(attemptRow(tx, id.turn, id.attempt), id);
  const { agent_id: agent } = turnRow(tx, id.turn);
  const clone = cloneOf(config, agent);
  if (!clone || baseRow(tx, agent) !== undefined) return;
  tx.run(
    `INSERT INTO workspace_bases (agent_id, commit_id, turn_id, created_at_ms, tracked_json)
     VALUES (:agent, :commit, :turn, :now, :tracked)`,
    { agent, commit, turn: id.turn, now: tx.nowMs, tracked: tracked?.length ? JSON.stringify(tracked) : null },
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

/** What of an agent's clone lies in directories that are not captured, and is captured all the same. */
export function trackedOf(reader: SqlReader, agent: string): string[] {
  const row = baseRow(reader, agent);
  return row?.tracked_json ? (JSON.parse(row.tracked_json) as string[]) : [];
}
