import type { Priority } from '@suzumio/protocol/ids';
import type { TurnJob } from '@suzumio/protocol/turn-job';
import { isDue, isQueued, projectRow } from '../rows.js';
import type { SqlReader } from '../sqlite/sql.js';
import type { Tx } from '../sqlite/tx.js';
import { activeTurns } from './start-turns.js';

/** A delivery older than this without a job in the queue counts as lost. */
export const redeliverAfterMs = 5_000;

/** A queued turn and its last delivery; 0 before the first. */
export interface QueuedTurn {
  turn: string;
  agent: string;
  priority: Priority;
  epoch: number;
  delivery: number;
  /** Whether its delivery is so old that its job counts as lost. */
  lost: boolean;
}

/** Open circuits, and when each may be probed; a day's exhausted budget by its gate. */
export type OpenCircuits = ReadonlyMap<string, number>;

/**
 * Queued turns that need a job now, the most urgent first. Turns of external agents never get one: their handlers claim
 * them. A turn that waits for a model continues once the model answers others; when the circuit may be probed, the turn
 * that has not tried for longest does. Waiting turns hold no slot, so they get one like others then: no more of them
 * than `maxConcurrentTurns` leaves free.
 */
export function deliverableTurns(
  reader: SqlReader,
  nowMs: number,
  away: OpenCircuits = new Map(),
  maxConcurrentTurns = Infinity,
): QueuedTurn[] {
  const project = projectRow(reader);
  if (project.status !== 'running' || project.paused_json !== null) return [];
  const queued = reader.all<WaitingTurn>(
    `SELECT id, agent_id, priority, delivery, delivered_at_ms, not_before_ms, waits_for FROM turns
     WHERE ${isQueued} AND ${isDue}
       AND (SELECT paused_json IS NULL AND external = 0 FROM agents WHERE agents.id = agent_id) ORDER BY priority, queued_at_ms, id`,
    { now: nowMs },
  );
  const trying = whoTries(queued);
  let free = maxConcurrentTurns === Infinity ? Infinity : maxConcurrentTurns - activeTurns(reader);
  const rows = queued.filter(({ id, waits_for: provider, delivered_at_ms: deliveredAtMs }) => {
    if (provider === null) return true;
    const untilMs = away.get(provider);
    if (untilMs !== undefined && (untilMs > nowMs || trying.get(provider)?.id !== id)) return false;
    return deliveredAtMs !== null || free-- > 0;
  });
  return rows
    .filter(({ delivered_at_ms: deliveredAtMs }) => deliveredAtMs === null || isOld(deliveredAtMs, nowMs))
    .map(({ id: turn, agent_id: agent, priority, delivery, delivered_at_ms: deliveredAtMs }) => {
      return { turn, agent, priority, epoch: project.epoch, delivery, lost: deliveredAtMs !== null };
    });
}

/** A delivery in the future was made before the clock stepped back, an unknown time ago. */
function isOld(deliveredAtMs: number, nowMs: number): boolean {
  return deliveredAtMs <= nowMs - redeliverAfterMs || deliveredAtMs > nowMs;
}

/** The last delivery of an agent's turn that is on the queue and unclaimed. */
export function unclaimedDelivery(
  reader: SqlReader,
  agent: string,
): Pick<QueuedTurn, 'turn' | 'epoch' | 'delivery'> | undefined {
  const waiting = `SELECT id AS turn, delivery, (SELECT epoch FROM projects) AS epoch FROM turns
    WHERE agent_id = :agent AND ${isQueued} AND delivered_at_ms IS NOT NULL`;
  return reader.get(waiting, { agent });
}

interface WaitingTurn {
  id: string;
  agent_id: string;
  priority: Priority;
  delivery: number;
  delivered_at_ms: number | null;
  /** For a turn that waits for a model, when it was put back; for one that has tried it, when it may try next. */
  not_before_ms: number;
  waits_for: string | null;
}

/**
 * The turn that probes each model, among those that wait for it: the one on its way, else the one that has not tried
 * for longest, so that a turn whose call always fails does not block the others.
 */
function whoTries(queued: readonly WaitingTurn[]): ReadonlyMap<string, WaitingTurn> {
  const first = new Map<string, WaitingTurn>();
  const place = (turn: WaitingTurn) => (turn.delivered_at_ms === null ? turn.not_before_ms : -Infinity);
  for (const turn of queued) {
    const before = turn.waits_for === null ? undefined : first.get(turn.waits_for);
    if (turn.waits_for !== null && (!before || place(turn) < place(before))) first.set(turn.waits_for, turn);
  }
  return first;
}

/**
 * Records a delivery before its job is put on the queue: an unrecorded job could not be told from a stale one. Returns
 * the job without its cell; undefined where the turn is no longer queued or another process has just delivered it.
 */
export function deliverTurn(tx: Tx, turn: string, seenDelivery: number): Omit<TurnJob, 'cell'> | undefined {
  const row = tx.get<{ delivery: number; priority: Priority }>(
    `UPDATE turns SET delivery = delivery + 1, delivered_at_ms = :now, not_before_ms = min(not_before_ms, :now)
     WHERE id = :turn AND status = 'queued' AND ${isDue} AND delivery = :seen
     RETURNING delivery, priority`,
    { turn, now: tx.nowMs, seen: seenDelivery },
  );
  if (!row) return undefined;
  const project = projectRow(tx);
  return { project: project.id, epoch: project.epoch, turn, delivery: row.delivery, priority: row.priority };
}

/** Records that a turn's job never reached the queue, so that the next visit delivers it again at once. */
export function forgetDelivery(tx: Tx, turn: string, delivery: number): void {
  tx.run(`UPDATE turns SET delivered_at_ms = NULL WHERE id = :turn AND delivery = :delivery AND status = 'queued'`, {
    turn,
    delivery,
  });
}
