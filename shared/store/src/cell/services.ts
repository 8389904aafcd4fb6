import type { CellFacts, ServiceFacts } from '@suzumio/core/why/facts';
import { readCellPause } from './cell-pause.js';
import { readOpenCircuits } from '../models/circuits.js';
import { readDayBudget } from '../models/spending.js';
import type { SqlReader } from '../sqlite/sql.js';
import { readWaitingLine } from './waiting-line.js';

/** A process counts as alive for this long after its last beat. */
export const aliveMs = 5_000;

/** The interval between a process's beats. */
export const beatMs = 1_000;

/**
 * SQL condition for live processes: their last beat is younger than `:withinMs`. A beat in the future was written
 * before the clock stepped back; a live process beats again soon.
 */
export const isAlive = `beat_at_ms > :now - :withinMs AND beat_at_ms <= :now + ${String(beatMs)}`;

/** What the catalog contributes to whether a project's agents get turns. */
export function readCatalogFacts(
  reader: SqlReader,
  project: string,
  nowMs: number,
): Pick<CellFacts, 'paused' | 'scheduler' | 'toolhost' | 'providersAway' | 'waitingLine' | 'day'> {
  return {
    paused: readCellPause(reader),
    scheduler: lastHeardOf(reader, 'scheduler', nowMs),
    toolhost: lastHeardOf(reader, 'toolhost', nowMs),
    providersAway: readOpenCircuits(reader, project),
    waitingLine: readWaitingLine(reader),
    day: readDayBudget(reader, nowMs) ?? null,
  };
}

/** A process that stopped cleanly leaves no row; a killed one leaves its row for a while. */
function lastHeardOf(reader: SqlReader, service: 'scheduler' | 'toolhost', nowMs: number): ServiceFacts {
  const row = reader.get<{ at: number | null }>(
    'SELECT max(beat_at_ms) AS at FROM processes WHERE service = :service AND beat_at_ms <= :now + :beatMs',
    { service, now: nowMs, beatMs },
  );
  const seenAtMs = row?.at ?? null;
  return { alive: seenAtMs !== null && seenAtMs > nowMs - aliveMs, seenAtMs };
}
