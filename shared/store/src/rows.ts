import { hintFrom } from '@suzumio/contract/errors/suggest';
import { SuzumioError } from '@suzumio/contract/errors/suzumio-error';
import type { Pause } from '@suzumio/contract/model/pause';
import type { ProjectStatus } from '@suzumio/contract/model/project-status';
import type { AgentState, TurnStatus } from '@suzumio/contract/model/states';
import type { Priority } from '@suzumio/protocol/ids';
import type { SqlReader } from './sqlite/sql.js';

/** Rows as verbs read them. The tables are described in `projects/migrations.ts`. */
export interface ProjectRow {
  id: string;
  status: ProjectStatus;
  task: string;
  report_path: string | null;
  epoch: number;
  changes_requested_seq: number;
  paused_json: string | null;
  /** The team whose standing project this is. */
  standing_team: string | null;
  created_at_ms: number;
  status_at_ms: number;
}

export interface AgentRow {
  id: string;
  base: string;
  role: string;
  display_name: string | null;
  /** The profile that it started from. */
  profile_id: string | null;
  team: string | null;
  prompt: string;
  tools_json: string;
  model: string | null;
  state: AgentState;
  /** 1 where it stops once its turn has ended. */
  stopping: number;
  token_hash: string | null;
  active_turn_id: string | null;
  turns: number;
  paused_json: string | null;
  /** Turns after this one count towards the hourly limit. */
  hour_from_turn: number;
  snapshot: string | null;
  /** The snapshot from whose own artifacts it has published last. */
  published_snapshot: string | null;
  /** The version of the project's file that no longer has it; null for all others. */
  retired_version: number | null;
  /** 1 where a handler runs its turns. */
  external: number;
  /** The handler that last asked for its turns, and when. */
  handler: string | null;
  handler_seen_at_ms: number | null;
}

export interface TurnRow {
  id: string;
  agent_id: string;
  number: number;
  status: TurnStatus;
  priority: Priority;
  attempt: number;
  allowance_from: number;
  delivery: number;
  delivered_at_ms: number | null;
  not_before_ms: number;
  avoid_worker: string | null;
  /** The circuit that its next attempt waits for, or the gate of the day's budget. */
  waits_for: string | null;
  prompt_seq: number | null;
  input_json: string | null;
  /** The version of the project's file that it runs with: that of its prompt. */
  config_version: number;
  ended_by_tool: string | null;
  failure_json: string | null;
  queued_at_ms: number;
  started_at_ms: number | null;
}

export interface AttemptRow {
  turn_id: string;
  number: number;
  status: 'running' | 'completed' | 'failed' | 'cancelled';
  claim_id: string;
  worker: string;
  /** What runs it; `external` where a handler does. */
  engine: string;
  lease_token_hash: string;
  lease_until_ms: number;
  unnamed_calls: number;
  refused_calls: number;
  counted: number | null;
  started_at_ms: number;
  ended_at_ms: number | null;
}

/**
 * SQL condition for queued turns. SQLite uses an index of active turns only where the statement repeats the index's own
 * condition; without it, it reads all turns.
 */
export const isQueued = `status IN ('queued', 'running') AND status = 'queued'`;

/**
 * SQL condition for turns whose back-off has passed at `:now`. A back-off that was set in the future was set before the
 * clock stepped back, and counts as over: one early attempt harms less than a wait as long as the step.
 */
export const isDue = `(not_before_ms <= :now OR EXISTS (SELECT 1 FROM turn_attempts
  WHERE turn_id = turns.id AND turn_attempts.number = turns.attempt AND ended_at_ms > :now))`;

/** SQL condition for turns that ended without doing what their mail asks for: their reads count as undelivered. */
export const isUndelivered = `status IN ('failed', 'cancelled')`;

/** The project's one row, without its file, which may be long. */
export function projectRow(reader: SqlReader): ProjectRow {
  const row = reader.get<ProjectRow>(
    'SELECT id, status, task, report_path, epoch, changes_requested_seq, paused_json, standing_team, created_at_ms, status_at_ms FROM projects',
  );
  if (!row) throw new SuzumioError('store-corrupt', 'The project database has no project in it.');
  return row;
}

/** The pause of a project or an agent; null where it is not paused. */
export function pauseOf({ paused_json }: Pick<ProjectRow, 'paused_json'>): Pause | null {
  return paused_json === null ? null : (JSON.parse(paused_json) as Pause);
}

/** An agent's state as it is told. The row of one that was retired says that it is stopped. Databases of before know none. */
export function stateOf({
  state,
  retired_version,
}: Omit<AgentRow, 'retired_version'> & { retired_version?: number | null }): AgentState {
  return (retired_version ?? null) === null ? state : 'retired';
}

/** @throws SuzumioError `agent-unknown` */
export function agentRow(reader: SqlReader, agent: string): AgentRow {
  const row = reader.get<AgentRow>('SELECT * FROM agents WHERE id = :agent', { agent });
  return row ?? unknownAgent(reader, agent);
}

/** @throws SuzumioError `agent-unknown`, which names those that there are */
export function unknownAgent(reader: SqlReader, agent: string): never {
  const known = reader.all<{ id: string }>('SELECT id FROM agents ORDER BY position').map(({ id }) => id);
  throw new SuzumioError('agent-unknown', `There is no agent "${agent}" here${hintFrom(agent, known)}`, { agent });
}

/** @throws SuzumioError `turn-unknown` */
export function turnRow(reader: SqlReader, turn: string): TurnRow {
  const row = reader.get<TurnRow>('SELECT * FROM turns WHERE id = :turn', { turn });
  if (!row) throw new SuzumioError('turn-unknown', `There is no turn "${turn}" in this project.`, { turn });
  return row;
}

export function attemptRow(reader: SqlReader, turn: string, attempt: number): AttemptRow | undefined {
  return reader.get<AttemptRow>('SELECT * FROM turn_attempts WHERE turn_id = :turn AND number = :attempt', {
    turn,
    attempt,
  });
}
