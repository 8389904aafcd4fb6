import type { Sql } from '../../shared/store/src/sqlite/sql.js';

/** One number that a query without parameters answers. */
export function count(project: Sql, sql: string): number {
  return project.get<{ count: number }>(`SELECT count(*) AS count FROM ${sql}`)?.count ?? 0;
}

/** Pairs of attempts of one agent of which the second began before the first had ended. */
export function overlappingAttempts(project: Sql): unknown[] {
  return project.all(
    `WITH attempts AS (
       SELECT t.agent_id, a.turn_id, a.number, a.started_at_ms, coalesce(a.ended_at_ms, 9e15) AS ended_at_ms
       FROM turn_attempts a JOIN turns t ON t.id = a.turn_id
     )
     SELECT one.agent_id, one.turn_id AS one, one.number, other.turn_id AS other, other.number
     FROM attempts one JOIN attempts other ON other.agent_id = one.agent_id
       AND (other.turn_id, other.number) <> (one.turn_id, one.number)
     WHERE other.started_at_ms >= one.started_at_ms AND other.started_at_ms < one.ended_at_ms`,
  );
}

/** How the attempts that did not complete ended, by the code of their failure. */
export function failedAttempts(project: Sql): Record<string, number> {
  const rows = project.all<{ code: string | null; count: number }>(
    `SELECT failure_json ->> 'code' AS code, count(*) AS count FROM turn_attempts
     WHERE status NOT IN ('completed', 'running') GROUP BY 1`,
  );
  return Object.fromEntries(rows.map(({ code, count: number }) => [code ?? 'none', number]));
}

/** What a call told, without the note that only an attempt on another host adds to its first. */
export const withoutMove = (told: string) => told.replace(/\n?\[Your turns run on another host now\.[^\]]*\]/g, '');
