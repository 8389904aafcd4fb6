import type { SqlReader } from '../sql.js';

/** Attempts whose deadline has passed. */
export function overdueAttempts(reader: SqlReader, nowMs: number): { turn: string; attempt: number }[] {
  return reader.all(
    `SELECT turn_id AS turn, number AS attempt FROM turn_attempts WHERE status = 'running' AND lease_until_ms <= :now`,
    { now: nowMs },
  );
}

/** When the first of the leases that run now ends; undefined where none runs. */
export function nextDeadline(reader: SqlReader): number | undefined {
  const row = reader.get<{ at: number | null }>(
    `SELECT min(lease_until_ms) AS at FROM turn_attempts WHERE status = 'running'`,
  );
  return row?.at ?? undefined;
}
