import { isExternal, backendOf } from '@suzumio/core/config/sandbox-of';
import type { AgentView } from '@suzumio/contract/model/agent';
import type { ProjectConfig } from '@suzumio/contract/model/project-config';
import type { StorageReached } from '@suzumio/contract/model/storage';
import type { TurnStatus } from '@suzumio/contract/model/states';
import type { Priority } from '@suzumio/protocol/ids';
import type { ProjectFacts, TurnFacts } from '@suzumio/core/why/facts';
import { isDue, isQueued, pauseOf, projectRow } from '../rows.js';
import type { SqlReader } from '../sqlite/sql.js';
import { activeTurns } from '../turns/start-turns.js';
import { handlerPresence } from '../turns/handlers.js';
import { parsed } from '../sqlite/page.js';
import { leastHeld, spentBudget } from '../budgets/usage.js';

/**
 * The facts in a project's database that explain why an agent does what it does.
 *
 * @param now.storageReached the storage limits that the project, its agents and the disk have reached
 */
export function readProjectFacts(
  reader: SqlReader,
  config: ProjectConfig,
  { id, state, stopping, paused, unread, undelivered, failure, activeTurn }: AgentView,
  { nowMs, storageReached }: { nowMs: number; storageReached: readonly StorageReached[] },
): ProjectFacts {
  const project = projectRow(reader);
  const agent = config.agents[id] ?? {};
  const reached = spentBudget(reader, config, id);
  return {
    project: { id: project.id, status: project.status, paused: pauseOf(project), epoch: project.epoch },
    agent: { id, state, stopping, paused, unread, undelivered, failure },
    turn: activeTurn === null ? null : turnFacts(reader, activeTurn.id, nowMs),
    budgetReached: reached ? { ...reached, agent: reached.of === 'project' ? null : reached.of } : null,
    storageReached: storageReached.filter(({ agent: of }) => of === null || of === id),
    leastHeldNanoUsd: leastHeld(config, id),
    activeTurns: activeTurns(reader),
    maxConcurrentTurns: config.scheduler.maxConcurrentTurns,
    maxPromptMessages: config.scheduler.maxPromptMessages,
    runsIn: isExternal(agent) ? null : { backend: backendOf(config, agent), image: config.backend.image },
    handler: isExternal(agent) ? (handlerPresence(reader, id, nowMs) ?? null) : null,
  };
}

interface TurnRow {
  id: string;
  number: number;
  status: TurnStatus;
  priority: Priority;
  attempt: number;
  queued_at_ms: number;
  not_before_ms: number;
  waits_for: string | null;
  delivery: number;
  delivered_at_ms: number | null;
  worker: string | null;
  started_at_ms: number | null;
  lease_until_ms: number | null;
  failure_json: string | null;
}

function turnFacts(reader: SqlReader, id: string, nowMs: number): TurnFacts | null {
  const row = reader.get<TurnRow>(
    `SELECT turns.id, turns.number, turns.status, priority, attempt, queued_at_ms, not_before_ms, waits_for, delivery,
       delivered_at_ms, worker, turn_attempts.started_at_ms, lease_until_ms, turn_attempts.failure_json
     FROM turns LEFT JOIN turn_attempts ON turn_id = turns.id AND turn_attempts.number = attempt WHERE turns.id = :id`,
    { id },
  );
  if (!row) return null;
  const running = row.status === 'running';
  return {
    id: row.id,
    number: row.number,
    running,
    attempt: row.attempt,
    worker: row.worker,
    attemptStartedAtMs: row.started_at_ms,
    leaseUntilMs: running ? row.lease_until_ms : null,
    notBeforeMs: row.not_before_ms,
    failure: running ? null : parsed(row.failure_json),
    waitsFor: row.waits_for,
    delivery: row.delivered_at_ms === null ? null : row.delivery,
    aheadInProject: running ? 0 : queuedBefore(reader, row, nowMs),
  };
}

/** Queued turns of the project that get a worker before this one; those that wait for something else do not count. */
function queuedBefore(reader: SqlReader, { id, priority, queued_at_ms: queuedAt }: TurnRow, nowMs: number): number {
  const row = reader.get<{ count: number }>(
    `SELECT count(*) AS count FROM turns WHERE ${isQueued} AND (priority, queued_at_ms, id) < (:priority, :queuedAt, :id)
       AND ${isDue} AND waits_for IS NULL AND agent_id IN (SELECT agents.id FROM agents WHERE external = 0 AND paused_json IS NULL)`,
    { priority, queuedAt, id, now: nowMs },
  );
  return row?.count ?? 0;
}
