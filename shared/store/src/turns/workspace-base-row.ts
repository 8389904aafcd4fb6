import type { SqlReader } from '../sqlite/sql.js';

/** The clone that an agent's workspace began with. */
export interface WorkspaceBaseRow {
  agent_id: string;
  commit_id: string;
  turn_id: string;
  created_at_ms: number;
  tracked_json: string | null;
}

export function baseRow(reader: SqlReader, agent: string): WorkspaceBaseRow | undefined {
  return reader.get<WorkspaceBaseRow>('SELECT * FROM workspace_bases WHERE agent_id = :agent', { agent });
}
