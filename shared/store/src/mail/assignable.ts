import { SuzumioError } from '@suzumio/contract/errors/suzumio-error';
import type { Candidate } from '@suzumio/core/mail/least-loaded';
import type { ProjectConfig } from '@suzumio/contract/model/project-config';
import type { AgentState } from '@suzumio/contract/model/states';
import { type Budget, budgetsOf } from '../budgets/budgets-of.js';
import { spentBudgetOf } from '../budgets/usage.js';
import type { SqlReader } from '../sqlite/sql.js';

/** The requirements on an assignee. */
export interface WantedRole {
  role: string;
  /** The team of the assignee, if any is required. */
  team: string | undefined;
  assigner: string;
}

interface Row {
  id: string;
  role: string;
  state: AgentState;
  stopping: number;
  paused_json: string | null;
  unread: number;
  unfinished: number;
  idle_since_ms: number | null;
}

/**
 * The agents that have a role, can begin a turn without a person's help, and are not the assigner. Roles are compared
 * without regard to case and surrounding space.
 *
 * @throws SuzumioError `nobody-fits`, which says why not
 */
export function assignableAgents(
  reader: SqlReader,
  config: ProjectConfig,
  wanted: WantedRole,
): [Candidate, ...Candidate[]] {
  const team = reader.all<Row>(
    `SELECT id, role, state, stopping, paused_json,
       (SELECT count(*) FROM inbox WHERE recipient = agents.id) AS unread,
       (SELECT count(*) FROM tasks WHERE assignee = agents.id AND tasks.state IN ('open', 'accepted')) AS unfinished,
       (SELECT ended_at_ms FROM turns WHERE agent_id = agents.id AND number = agents.turns) AS idle_since_ms
     FROM agents WHERE retired_version IS NULL AND (:team IS NULL OR team = :team) ORDER BY position`,
    { team: wanted.team ?? null },
  );
  const withRole = team.filter(({ role }) => comparable(role) === comparable(wanted.role));
  const budgets = budgetsOf(reader, config);
  const reasons = new Map(
    withRole.map((row) => [row.id, reasonAgainst(reader, budgets(row.id), row, wanted.assigner)]),
  );
  const [first, ...others] = withRole.filter(({ id }) => reasons.get(id) === undefined).map(candidate);
  if (!first) throw nobodyFits(wanted, team, reasons);
  return [first, ...others];
}

function candidate(row: Row): Candidate {
  return {
    id: row.id,
    unread: row.unread,
    unfinishedTasks: row.unfinished,
    working: row.state === 'running',
    ...(row.idle_since_ms === null ? {} : { idleSinceMs: row.idle_since_ms }),
  };
}

/** Why an agent cannot be assigned work now: a person would have to act first. */
function reasonAgainst(
  reader: SqlReader,
  budget: Budget | undefined,
  agent: Row,
  assigner: string,
): string | undefined {
  if (agent.id === assigner) return 'is who assigns it';
  if (agent.state === 'failed') return 'has failed';
  if (agent.state === 'stopped') return 'is stopped';
  if (agent.stopping === 1) return 'is about to stop';
  if (agent.paused_json !== null) return 'is paused';
  if (spentBudgetOf(reader, budget, agent.id)) return 'has used up its budget';
  return undefined;
}

function nobodyFits(
  { role, team }: WantedRole,
  roster: readonly Row[],
  reasons: ReadonlyMap<string, string | undefined>,
): SuzumioError {
  const where = team === undefined ? 'in this project' : `in the team ${team}`;
  const roles = [...new Map(roster.map((agent) => [comparable(agent.role), agent.role.trim()])).values()].join(', ');
  const why = [...reasons].map(([id, reason]) => `${id} ${reason ?? ''}`).join(', ');
  return new SuzumioError(
    'nobody-fits',
    reasons.size === 0
      ? `Nobody ${where} has the role "${role}"; the roles there are ${roles}.`
      : `Nobody ${where} with the role "${role}" can be given work now: ${why}. The roles there are ${roles}.`,
    { role, team: team ?? null },
  );
}

function comparable(role: string): string {
  return role.normalize('NFC').trim().toLowerCase();
}
