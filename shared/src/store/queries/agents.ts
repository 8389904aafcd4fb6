import type { AgentView } from '../../model/views.js';
import type { TurnStatus } from '../../model/states.js';
import type { AgentRow } from '../rows.js';
import type { SqlReader } from '../sql.js';
import { parsed } from './page.js';

type Row = AgentRow & {
  failure_json: string | null;
  unread: number;
  turn_id: string | null;
  turn_number: number | null;
  turn_status: TurnStatus | null;
  turn_attempt: number | null;
};

/** The roster with each agent's state and unread mail, in the order of the project file. */
export function listAgents(reader: SqlReader): AgentView[] {
  return reader
    .all<Row>(
      `SELECT agents.*, turns.id AS turn_id, turns.number AS turn_number, turns.status AS turn_status,
         turns.attempt AS turn_attempt, (SELECT count(*) FROM inbox WHERE recipient = agents.id) AS unread
       FROM agents LEFT JOIN turns ON turns.id = agents.active_turn_id ORDER BY position`,
    )
    .map((row) => ({
      id: row.id,
      base: row.base,
      role: row.role,
      displayName: row.display_name,
      prompt: row.prompt,
      tools: JSON.parse(row.tools_json) as string[],
      model: row.model,
      state: row.state,
      activeTurn:
        row.turn_id === null || row.turn_number === null || row.turn_status === null || row.turn_attempt === null
          ? null
          : { id: row.turn_id, number: row.turn_number, status: row.turn_status, attempt: row.turn_attempt },
      unread: row.unread,
      turns: row.turns,
      failure: parsed(row.failure_json),
    }));
}
