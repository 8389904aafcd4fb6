import { setTimeout as sleep } from 'node:timers/promises';
import type { LiveAnswer, LiveReport } from '@suzumio/protocol/live';

/** The shortest time between two reports: with the largest report, the bound of what a turn sends. */
const everyMs = 100;

/**
 * Passes on what an attempt's commands print, while somebody follows: one report at a time, at a bounded rate. Who reports
 * waits for the answer, so that nothing is kept here.
 */
export class LiveReports {
  /** Whether anybody follows, as the newest heartbeat says. */
  isFollowed = false;
  #isBusy = false;

  constructor(private readonly send: (report: LiveReport) => Promise<LiveAnswer>) {}

  /** Takes a report, and says whether more are wanted. One beside another one is dropped. */
  async take(report: LiveReport): Promise<LiveAnswer> {
    if (!this.isFollowed || this.#isBusy || isEmpty(report)) return { followed: this.isFollowed };
    this.#isBusy = true;
    try {
      const [{ followed }] = await Promise.all([this.send(report), sleep(everyMs)]);
      this.isFollowed = followed;
    } catch {
      // Nobody was told: what is lost is on record when its step ends.
    } finally {
      this.#isBusy = false;
    }
    return { followed: this.isFollowed };
  }
}

function isEmpty({ output, skipped }: LiveReport): boolean {
  return output.length === 0 && skipped === 0;
}
