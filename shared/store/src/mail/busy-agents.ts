import type { BusyAgent } from '@suzumio/contract/model/busy-agent';
import { iso } from '../sqlite/page.js';
import type { SqlReader } from '../sqlite/sql.js';

/** The agents of these that have a turn running. */
export function busyAmong(reader: SqlReader, agents: readonly string[]): BusyAgent[] {
  return agents.flatMap((agent) => {
    const turn = reader.get<{ number: number; started: number | null }>(
      `SELECT number, started_at_ms AS started FROM turns WHERE agent_id = :agent AND status = 'running'`,
      { agent },
    );
    return turn?.started == null ? [] : [{ agent, turn: turn.number, since: iso(turn.started) }];
  });
}
