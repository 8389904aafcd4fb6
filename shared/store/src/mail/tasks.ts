import { USER_ID } from '@suzumio/contract/model/project-config';
import type { TaskState } from '@suzumio/contract/model/task-states';
import type { TaskView } from '@suzumio/contract/model/views';
import type { Priority } from '@suzumio/protocol/ids';
import { excerptOf } from './excerpt.js';
import { findTeam } from './team-members.js';
import { agentRow } from '../rows.js';
import type { SqlReader } from '../sqlite/sql.js';
import { iso, type Page } from '../sqlite/page.js';

/** Which tasks are wanted. */
export interface TaskPage extends Page {
  state?: TaskState | undefined;
  assignee?: string | undefined;
  /** An agent's id, or `user`. */
  assigner?: string | undefined;
  /** The role that was asked for, in any case. */
  role?: string | undefined;
  team?: string | undefined;
}

interface Row {
  seq: number;
  message_id: string;
  assigner: string;
  assignee: string;
  role: string;
  team: string | null;
  state: TaskState;
  state_message_id: string | null;
  created_at_ms: number;
  state_at_ms: number;
  priority: Priority;
  beginning: string;
}

/**
 * Tasks in order of assignment.
 *
 * @throws SuzumioError `agent-unknown`, `team-unknown`
 */
export function listTasks(reader: SqlReader, { limit, after, ...wanted }: TaskPage): TaskView[] {
  const { state, assignee, assigner, role } = wanted;
  const team = findTeam(reader, wanted.team);
  for (const agent of [assignee, assigner]) {
    if (agent !== undefined && agent !== USER_ID) agentRow(reader, agent);
  }
  const order = `tasks.seq ${after === undefined ? 'DESC' : 'ASC'}`;
  return reader
    .all<Row>(
      `SELECT * FROM (
         SELECT tasks.*, messages.priority, substr(messages.body, 1, 1000) AS beginning
         FROM tasks JOIN messages ON messages.id = message_id
         WHERE tasks.seq > :after AND (:state IS NULL OR state = :state)
           AND (:assignee IS NULL OR assignee = :assignee) AND (:assigner IS NULL OR assigner = :assigner)
           AND (:role IS NULL OR lower(role) = lower(:role)) AND (:team IS NULL OR team = :team)
         ORDER BY ${order} LIMIT :limit) ORDER BY seq`,
      {
        limit,
        after: after ?? 0,
        state: state ?? null,
        assignee: assignee ?? null,
        assigner: assigner ?? null,
        role: role ?? null,
        team: team ?? null,
      },
    )
    .map((row) => ({
      id: row.message_id,
      seq: row.seq,
      assigner: row.assigner,
      assignee: row.assignee,
      role: row.role,
      team: row.team,
      priority: row.priority,
      excerpt: excerptOf(row.beginning),
      state: row.state,
      stateMessage: row.state_message_id,
      createdAt: iso(row.created_at_ms),
      stateAt: iso(row.state_at_ms),
    }));
}
