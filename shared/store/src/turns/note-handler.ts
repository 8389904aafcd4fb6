import type { SqlReader } from '../sqlite/sql.js';
import type { Tx } from '../sqlite/tx.js';

/** A handler's presence is written at most once in this interval. */
const noteEveryMs = 10_000;

/** Those of a handler's agents whose record of its presence is missing or old. */
export function agentsToNote(
  reader: SqlReader,
  { handler, agents, nowMs }: { handler: string; agents: readonly string[]; nowMs: number },
): string[] {
  return reader
    .all<{ id: string }>(
      `SELECT id FROM agents WHERE id IN (SELECT value FROM json_each(:agents))
         AND (handler IS NOT :handler OR handler_seen_at_ms <= :before)`,
      { handler, agents: JSON.stringify(agents), before: nowMs - noteEveryMs },
    )
    .map(({ id }) => id);
}

/** Records that a handler asks for the turns of some agents. */
export function noteHandler(tx: Tx, handler: string, agents: readonly string[]): void {
  tx.run(
    `UPDATE agents SET handler = :handler, handler_seen_at_ms = :now WHERE id IN (SELECT value FROM json_each(:agents))`,
    { handler, now: tx.nowMs, agents: JSON.stringify(agents) },
  );
}
