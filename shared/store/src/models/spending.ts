import { type DayBudget, dayBudget, type DaySpending } from '@suzumio/core/budgets/day-budget';
import type { CatalogDatabase, CatalogTx } from '../sqlite/catalog-database.js';
import type { SqlReader } from '../sqlite/sql.js';

/** The cell's spending by day, which the operator's budget may limit. Each project counts its own as well. */
export class Spending {
  constructor(private readonly db: CatalogDatabase) {}

  today(): DaySpending {
    return spendingOn(this.db.reader, this.db.nowMs);
  }

  /** The day's budget, if there is one. */
  get budget(): DayBudget | undefined {
    return readDayBudget(this.db.reader, this.db.nowMs);
  }

  /** Sets the day's budget for every process of the cell. */
  async limitTo(nanoUsd: number | undefined): Promise<void> {
    await this.db.write((tx) => {
      if (nanoUsd === undefined) tx.run('DELETE FROM day_budget');
      else {
        tx.run(
          `INSERT INTO day_budget (id, limit_nano_usd) VALUES (1, :limit)
           ON CONFLICT (id) DO UPDATE SET limit_nano_usd = :limit`,
          { limit: Math.round(nanoUsd) },
        );
      }
    });
  }

  /**
   * Reserves a call's worst-case cost for as long as its process is presumed alive.
   *
   * @returns what was spent and reserved before, where that leaves too little
   */
  async hold(
    call: string,
    worstNanoUsd: number,
    limitNanoUsd: number,
    untilMs: number,
  ): Promise<DaySpending | undefined> {
    return this.db.write((tx) => {
      const now = this.today();
      if (now.spentNanoUsd + now.heldNanoUsd + worstNanoUsd > limitNanoUsd) return now;
      tx.run(
        `INSERT INTO spending_held (call, nano_usd, until_ms) VALUES (:call, :usd, :until)
         ON CONFLICT (call) DO UPDATE SET until_ms = :until`,
        { call, usd: worstNanoUsd, until: untilMs },
      );
      return undefined;
    });
  }

  /**
   * Records the cost of a failed request, while its call continues.
   *
   * @returns the day's spending after it, with the call's remaining reservation
   */
  async spend(nanoUsd: number): Promise<DaySpending> {
    return this.db.write((tx) => {
      this.#add(tx, nanoUsd);
      return this.today();
    });
  }

  /** Records a call's final cost, and ends its reservation. */
  async settle(call: string, nanoUsd: number): Promise<void> {
    await this.db.write((tx) => {
      const now = tx.nowMs;
      tx.run('DELETE FROM spending_held WHERE call = :call OR until_ms <= :now', { call, now });
      this.#add(tx, nanoUsd);
    });
  }

  #add(tx: CatalogTx, nanoUsd: number): void {
    if (nanoUsd === 0) return;
    tx.run(
      `INSERT INTO spending (day, nano_usd) VALUES (:day, :usd)
       ON CONFLICT (day) DO UPDATE SET nano_usd = nano_usd + :usd`,
      { day: dayOf(tx.nowMs), usd: nanoUsd },
    );
  }
}

/** A catalog's budget for the day, and what is spent of it. */
export function readDayBudget(reader: SqlReader, nowMs: number): DayBudget | undefined {
  const limit = reader.get<{ limit_nano_usd: number }>('SELECT limit_nano_usd FROM day_budget')?.limit_nano_usd;
  return limit === undefined ? undefined : dayBudget(spendingOn(reader, nowMs), limit);
}

/** The catalog's spending on the day of a moment. */
export function spendingOn(reader: SqlReader, nowMs: number): DaySpending {
  const day = dayOf(nowMs);
  const sum = (sql: string, params: Record<string, string | number>) =>
    reader.get<{ sum: number }>(sql, params)?.sum ?? 0;
  return {
    day,
    spentNanoUsd: sum('SELECT coalesce(sum(nano_usd), 0) AS sum FROM spending WHERE day = :day', { day }),
    heldNanoUsd: sum('SELECT coalesce(sum(nano_usd), 0) AS sum FROM spending_held WHERE until_ms > :now', {
      now: nowMs,
    }),
  };
}

function dayOf(ms: number): string {
  return new Date(ms).toISOString().slice(0, 10);
}
