import { type DayBudget, dayBudget, type DaySpending } from '@suzumio/core/budgets/day-budget';
import type { CatalogDatabase, CatalogTx } from '../sqlite/catalog-database.js';
import type { SqlReader } from '../sqlite/sql.js';

/** The cell's spending by day, which a budget of the operator may bound. Each project counts its own besides. */
export class Spending {
  constructor(private readonly db: CatalogDatabase) {}

  today(): DaySpending {
    return spendingOn(this.db.reader, this.db.nowMs);
  }

  /** The day's budget, where there is one. */
  get budget(): DayBudget | undefined {
    return readDayBudget(this.db.reader, this.db.nowMs);
  }

  /** Tells every process of the cell what a day may cost. */
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
   * Holds back the worst that a call may cost, for as long as its process is believed.
   *
   * @returns what was spent and held before, where that leaves too little
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
   * What a question cost that came to nothing, while its call goes on.
   *
   * @returns the day since then, with what that call still holds back
   */
  async spend(nanoUsd: number): Promise<DaySpending> {
    return this.db.write((tx) => {
      this.#add(tx, nanoUsd);
      return this.today();
    });
  }

  /** What a call came to in the end, and what it held back no longer is. */
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

/** The budget of a day as a catalog says it. */
export function readDayBudget(reader: SqlReader, nowMs: number): DayBudget | undefined {
  const limit = reader.get<{ limit_nano_usd: number }>('SELECT limit_nano_usd FROM day_budget')?.limit_nano_usd;
  return limit === undefined ? undefined : dayBudget(spendingOn(reader, nowMs), limit);
}

/** What a catalog says of the day of a moment. */
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
