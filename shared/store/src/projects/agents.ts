import type { AgentView } from '@suzumio/contract/model/agent';
import { stepAfterEvent } from '@suzumio/core/why/what-helps';
import type { Failure } from '@suzumio/protocol/failure-codes';
import type { TurnStatus } from '@suzumio/contract/model/states';
import { type AgentRow, isUndelivered, pauseOf, projectRow, stateOf, unknownAgent } from '../rows.js';
import type { SqlReader } from '../sqlite/sql.js';
import { iso, parsed } from '../sqlite/page.js';

type Row = AgentRow & {
  failure_json: string | null;
  unread: number;
  undelivered: number;
  turn_id: string | null;
} & TurnColumns;

/** Null where the agent has no active turn. */
interface TurnColumns {
  turn_number: number;
  turn_status: TurnStatus;
  turn_attempt: number;
  queued_at_ms: number;
  started_at_ms: number | null;
  not_before_ms: number;
  attempt_failure_json: string | null;
}

/** The roster with each agent's state and mail, in the order of the project file. */
export function listAgents(reader: SqlReader): AgentView[] {
  const { id: project } = projectRow(reader);
  return reader
    .all<Row>(
      `SELECT agents.*, turns.id AS turn_id, turns.number AS turn_number, turns.status AS turn_status,
         turns.attempt AS turn_attempt, queued_at_ms, turns.started_at_ms, not_before_ms,
         CASE turns.status WHEN 'queued' THEN turn_attempts.failure_json END AS attempt_failure_json,
         (SELECT count(*) FROM inbox WHERE recipient = agents.id) AS unread,
         (SELECT count(*) FROM turns AS past JOIN message_reads ON turn_id = past.id
           WHERE past.${isUndelivered} AND past.agent_id = agents.id AND voided_at_ms IS NULL) AS undelivered
       FROM agents LEFT JOIN turns ON turns.id = agents.active_turn_id
         LEFT JOIN turn_attempts ON turn_id = turns.id AND turn_attempts.number = turns.attempt
       ORDER BY position`,
    )
    .map((row) => ({
      id: row.id,
      base: row.base,
      role: row.role,
      displayName: row.display_name,
      team: row.team,
      profile: row.profile_id,
      prompt: row.prompt,
      tools: JSON.parse(row.tools_json) as string[],
      model: row.model,
      state: stateOf(row),
      stopping: row.stopping === 1,
      paused: pauseOf(row),
      activeTurn: row.turn_id === null ? null : activeTurn(row.turn_id, row),
      unread: row.unread,
      undelivered: row.undelivered,
      turns: row.turns,
      failure: failureOf(project, row),
    }));
}

/** An agent's failure as its row has it. */
export type AgentFailure = Failure & { turn: string; turnNumber: number; attempt: number };

function failureOf(project: string, { id, failure_json: failure }: Row): AgentView['failure'] {
  const kept = parsed<AgentFailure>(failure);
  return kept && { ...kept, ...stepAfterEvent(project, id, kept.code) };
}

function activeTurn(id: string, row: TurnColumns): NonNullable<AgentView['activeTurn']> {
  return {
    id,
    number: row.turn_number,
    status: row.turn_status,
    attempt: row.turn_attempt,
    queuedAt: iso(row.queued_at_ms),
    startedAt: iso(row.started_at_ms),
    notBefore: row.not_before_ms === 0 ? null : iso(row.not_before_ms),
    failure: parsed(row.attempt_failure_json),
  };
}

/**
 * One of the roster.
 *
 * @throws SuzumioError `agent-unknown`
 */
export function readAgent(reader: SqlReader, agent: string): AgentView {
  const view = listAgents(reader).find(({ id }) => id === agent);
  return view ?? unknownAgent(reader, agent);
}

/**
 * The variables of an agent's containers. Nothing else may be given them.
 *
 * @param version of the project's file
 */
export function readAgentEnv(reader: SqlReader, agent: string, version: number): Record<string, string> {
  const rows = reader.all<{ name: string; value: string }>(
    `SELECT name, value FROM agent_env
     WHERE version = (SELECT env_version FROM config_versions WHERE number = :version) AND agent_id = :agent ORDER BY name`,
    { version, agent },
  );
  return Object.fromEntries(rows.map(({ name, value }) => [name, value]));
}
