import { setTimeout as sleep } from 'node:timers/promises';

/** How many refused calls of an attempt are answered at once: a mistaken model learns of it without delay. */
const atOnce = 10;
const everyMs = 1_000;

/**
 * Throttles attempts with repeated refusals: after the first ones, all refusals of one second are answered together and
 * share a commit. Other requests wait for each commit, however small.
 */
export class RefusalPace {
  readonly #rounds = new Map<string, Promise<void>>();

  /**
   * Waits for an attempt's next round, if it has had enough refusals.
   *
   * @param attempt a unique name of the attempt
   * @param refused how many of its calls have been refused
   */
  async wait(attempt: string, refused: number): Promise<void> {
    if (refused < atOnce) return;
    const round = this.#rounds.get(attempt) ?? sleep(everyMs).then(() => void this.#rounds.delete(attempt));
    this.#rounds.set(attempt, round);
    await round;
  }
}
