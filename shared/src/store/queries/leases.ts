import type { SqlReader } from '../sql.js';

/** Attempts whose deadline has passed. */
export function overdueAttempts(reader: SqlReader, nowMs: number): { turn: string; attempt: number }[] {
  return reader.all(
    `SELECT turn_id AS turn, number AS attempt FROM turn_attempts WHERE status = 'running' AND lease_until_ms <= :now`,
    { now: nowMs },
  );
}
