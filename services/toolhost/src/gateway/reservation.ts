import { SuzumioError } from '@suzumio/contract/errors/suzumio-error';
import { type DaySpending, dayBudget, daySpentMessage } from '@suzumio/core/budgets/day-budget';
import { dollars } from '@suzumio/core/budgets/model-cost';
import { backOff } from '@suzumio/protocol/retry';
import type { ToolhostContext } from '../context.js';
import { callLeaseMs, pollInterval, writePaid } from './call-lease.js';
import { DayBudgetSpent } from './ending.js';

/** One call's reservation in the day's budget, if there is one, and its spending. */
export class Reservation {
  #held = false;

  constructor(
    private readonly context: ToolhostContext,
    private readonly call: string,
    private readonly worstNanoUsd: number,
  ) {}

  /**
   * Reserves the call's worst-case cost. Waits where only reservations of other calls leave no room.
   *
   * @param assertWanted throws where the call is no longer wanted
   * @throws SuzumioError `budget-reached` where the cost exceeds a whole day's budget
   * @throws DayBudgetSpent
   */
  async begin(assertWanted: () => void): Promise<void> {
    const { dayLimitNanoUsd: limit, cell } = this.context;
    if (limit === undefined) return;
    if (this.worstNanoUsd > limit) {
      throw new SuzumioError(
        'budget-reached',
        `The day's budget of all projects, ${dollars(limit)}, has no room for this call on any day: it may cost ${dollars(this.worstNanoUsd)}.`,
      );
    }
    for (const wait = backOff(pollInterval); ;) {
      const untilMs = cell.context.now() + callLeaseMs;
      const now = await cell.catalog.spending.hold(this.call, this.worstNanoUsd, limit, untilMs);
      this.#held = now === undefined;
      if (!now) return;
      const spent = this.#spent(now);
      if (spent) throw spent;
      assertWanted();
      await wait();
    }
  }

  /** Extends the reservation. */
  async heartbeat(untilMs: number): Promise<void> {
    if (!this.#held) return;
    await this.context.cell.catalog.spending.hold(this.call, this.worstNanoUsd, Number.MAX_SAFE_INTEGER, untilMs);
  }

  /**
   * Records the cost of a failed request, while the call continues.
   *
   * @returns an error where the day then has no room for the rest
   */
  async spend(nanoUsd: number): Promise<DayBudgetSpent | undefined> {
    if (!this.#held) return undefined;
    return this.#spent(await writePaid(() => this.context.cell.catalog.spending.spend(nanoUsd)));
  }

  /** Records the call's cost, and frees the rest of its reservation. */
  async end(nanoUsd: number): Promise<void> {
    if (this.#held) await writePaid(() => this.context.cell.catalog.spending.settle(this.call, nanoUsd));
  }

  #spent(now: DaySpending): DayBudgetSpent | undefined {
    const { dayLimitNanoUsd: limit } = this.context;
    if (limit === undefined || now.spentNanoUsd + this.worstNanoUsd <= limit) return undefined;
    const day = dayBudget(now, limit);
    return new DayBudgetSpent(day, `${daySpentMessage(day)} This call may cost ${dollars(this.worstNanoUsd)}.`);
  }
}
