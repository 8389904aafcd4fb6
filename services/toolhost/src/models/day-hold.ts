import { SuzumioError } from '@suzumio/contract/errors/suzumio-error';
import { type DaySpending, dayBudget, daySpentMessage } from '@suzumio/core/budgets/day-budget';
import { dollars } from '@suzumio/core/budgets/model-cost';
import type { ToolhostContext } from '../context.js';
import { DaySpent } from './call-ending.js';
import { insist } from './insist.js';
import { lookingAgain } from './looking-again.js';
import { ownerLeaseMs } from './owner-lease.js';

/** What one call holds back from what the day may cost, where that is bounded, and what it spends of it. */
export class DayHold {
  #held = false;

  constructor(
    private readonly context: ToolhostContext,
    private readonly call: string,
    private readonly worstNanoUsd: number,
  ) {}

  /**
   * Holds back the call's worst cost, and waits where only what other calls hold back is in its way.
   *
   * @param assertWanted throws where nobody waits for the call any more
   * @throws SuzumioError `budget-reached` where no day has room for it
   * @throws DaySpent
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
    for (const lookAgain = lookingAgain(); ;) {
      const untilMs = cell.context.now() + ownerLeaseMs;
      const now = await cell.catalog.spending.hold(this.call, this.worstNanoUsd, limit, untilMs);
      this.#held = now === undefined;
      if (!now) return;
      const spent = this.#spent(now);
      if (spent) throw spent;
      assertWanted();
      await lookAgain();
    }
  }

  /** The call is still being made. */
  async extend(untilMs: number): Promise<void> {
    if (!this.#held) return;
    await this.context.cell.catalog.spending.hold(this.call, this.worstNanoUsd, Number.MAX_SAFE_INTEGER, untilMs);
  }

  /**
   * Pays for something that came to nothing, while the call goes on.
   *
   * @returns that the day has no room for more of it then
   */
  async spend(nanoUsd: number): Promise<DaySpent | undefined> {
    if (!this.#held) return undefined;
    return this.#spent(await insist(() => this.context.cell.catalog.spending.spend(nanoUsd)));
  }

  /** What the call has cost is the day's, and what it held back no longer is. */
  async end(nanoUsd: number): Promise<void> {
    if (this.#held) await insist(() => this.context.cell.catalog.spending.settle(this.call, nanoUsd));
  }

  #spent(now: DaySpending): DaySpent | undefined {
    const { dayLimitNanoUsd: limit } = this.context;
    if (limit === undefined || now.spentNanoUsd + this.worstNanoUsd <= limit) return undefined;
    const day = dayBudget(now, limit);
    return new DaySpent(day, `${daySpentMessage(day)} This call may cost ${dollars(this.worstNanoUsd)}.`);
  }
}
