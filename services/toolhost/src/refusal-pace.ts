import { setTimeout as sleep } from 'node:timers/promises';

/** How many calls of an attempt are refused at once: a model that is mistaken is told so without delay. */
const atOnce = 10;
const everyMs = 1_000;

/**
 * Slows down attempts whose calls are refused again and again: after the first ones, all that came within a second are
 * answered together, and so share a commit. Others' requests wait for each commit, however little it holds.
 */
export class RefusalPace {
  readonly #rounds = new Map<string, Promise<void>>();

  /**
   * Waits for an attempt's next round, where it has had refusals enough.
   *
   * @param attempt its name, unlike that of any other
   * @param refused how many of its calls have been refused
   */
  async wait(attempt: string, refused: number): Promise<void> {
    if (refused < atOnce) return;
    const round = this.#rounds.get(attempt) ?? sleep(everyMs).then(() => void this.#rounds.delete(attempt));
    this.#rounds.set(attempt, round);
    await round;
  }
}
