import type { SqlReader } from '../sqlite/sql.js';

/** Attempts whose deadline has passed. */
export function overdueAttempts(reader: SqlReader, nowMs: number): { turn: string; attempt: number }[] {
  return reader.all(
    `SELECT turn_id AS turn, number AS attempt FROM turn_attempts WHERE status = 'running' AND lease_until_ms <= :now`,
    { now: nowMs },
  );
}

/** When the first and the last of the leases that run now end; undefined where none runs. */
export function deadlinesOf(reader: SqlReader): { firstMs: number; lastMs: number } | undefined {
  const row = reader.get<{ first: number | null; last: number | null }>(
    `SELECT min(lease_until_ms) AS first, max(lease_until_ms) AS last FROM turn_attempts WHERE status = 'running'`,
  );
  const { first = null, last = null } = row ?? {};
  return first === null || last === null ? undefined : { firstMs: first, lastMs: last };
}
