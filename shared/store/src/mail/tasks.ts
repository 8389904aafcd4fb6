import { USER_ID } from '@suzumio/contract/model/project-config';
import type { TaskState } from '@suzumio/contract/model/task-states';
import type { TaskView } from '@suzumio/contract/model/task';
import type { Priority } from '@suzumio/protocol/ids';
import type { Search } from '@suzumio/contract/model/search';
import { excerptOf } from './excerpt.js';
import { messageRange } from './messages.js';
import { searching } from './search-messages.js';
import { findTeam } from './team-members.js';
import { agentRow } from '../rows.js';
import type { SqlReader } from '../sqlite/sql.js';
import { definedOf, iso, type Page, type Part, readPart } from '../sqlite/page.js';

/** Which tasks are wanted. */
export interface TaskPage extends Page {
  state?: TaskState | undefined;
  assignee?: string | undefined;
  /** An agent's id, or `user`. */
  assigner?: string | undefined;
  /** The role that was asked for, in any case. */
  role?: string | undefined;
  team?: string | undefined;
  /** Only those whose messages have this text. */
  search?: Search | undefined;
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
  body: string;
  snippet?: string | null;
}

/**
 * Tasks in order of assignment. A search finds only what is indexed.
 *
 * @throws SuzumioError `agent-unknown`, `team-unknown`
 */
export function listTasks(reader: SqlReader, page: TaskPage): Part<TaskView> {
  const { state, assignee, assigner, role, search } = page;
  const team = findTeam(reader, page.team);
  for (const agent of [assignee, assigner]) {
    if (agent !== undefined && agent !== USER_ID) agentRow(reader, agent);
  }
  const found = search && searching(reader, search, page, { range: messageRange(reader, page), seq: 'tasks.seq' });
  return readPart<Row, TaskView>(
    reader,
    {
      ...found?.rows,
      from: `${found?.rows.index ?? ''}tasks JOIN messages ON messages.id = message_id`,
      columns: `tasks.*, priority, substr(messages.body, 1, 1000) AS beginning${found ? `, messages.body${found.rows.columns}` : ''}`,
      key: found?.rows.key ?? 'tasks.seq',
      where: found?.rows.where ?? [],
      filters: [
        state === undefined ? undefined : 'state = :state',
        assignee === undefined ? undefined : 'assignee = :assignee',
        assigner === undefined ? undefined : 'assigner = :assigner',
        role === undefined ? undefined : 'lower(role) = lower(:role)',
        team === undefined ? undefined : 'team = :team',
        ...(found?.rows.filters ?? []),
      ],
      params: { ...found?.rows.params, ...definedOf({ state, assignee, assigner, role, team }) },
    },
    page,
    (row) => ({ ...taskView(row), ...(found ? { found: found.found(row) } : {}) }),
  );
}

function taskView(row: Row): TaskView {
  return {
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
  };
}
