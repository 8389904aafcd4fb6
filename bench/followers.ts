import { setTimeout as sleep } from 'node:timers/promises';
import type { Stack } from '../test/support/stack.js';
import { BenchProject } from './bench-project.js';
import type { HttpFloor } from './http-floor.js';
import { Followers, HttpLoad, type HttpTarget } from './http-load.js';
import { type Spread, median, spread } from './statistics.js';

export interface FollowersPlan {
  followers: number;
  rounds: number;
  /** Messages of a round that come one by one, and those that come as fast as they are accepted. */
  paced: number;
  burst: number;
}

export interface FollowersFigures {
  followers: number;
  /** From the sending of a message to its event's arrival, over all followers. */
  delayMs: Spread;
  floorDelayMs: Spread;
  /** Events that arrive in a second while messages come as fast as they are accepted. */
  eventsPerSecond: Spread;
  floorEventsPerSecond: number;
  /** The medians of the rounds' own ratios. */
  delayRatio: number;
  rateRatio: number;
}

const pauseMs = 20;
const patienceMs = 60_000;
const atOnce = 16;

/** One project that many follow, beside the floor that keeps nothing of what it sends them. */
export async function measureFollowers(stack: Stack, floor: HttpFloor, plan: FollowersPlan): Promise<FollowersFigures> {
  const project = await BenchProject.make(stack, 'bench-followers', ['solo: { role: solo, prompt: Read. }']);
  const load = new HttpLoad(atOnce);
  const ours = await Side.open(project.messages, project.events, plan.followers, load);
  const theirs = await Side.open({ url: floor.messagesUrl }, { url: floor.eventsUrl }, plan.followers, load);
  try {
    // The first round is the warm-up.
    for (let round = 0; round <= plan.rounds; round += 1) {
      for (const side of [theirs, ours]) await side.round(plan, round > 0);
    }
  } finally {
    ours.close();
    theirs.close();
    load.close();
    project.close();
  }
  const ratio = (figures: (side: Side) => number[]) => {
    const floors = figures(theirs);
    return median(figures(ours).map((figure, round) => figure / (floors[round] ?? Number.NaN)));
  };
  return {
    followers: plan.followers,
    delayMs: spread(ours.delays.flat()),
    floorDelayMs: spread(theirs.delays.flat()),
    eventsPerSecond: spread(ours.rates),
    floorEventsPerSecond: median(theirs.rates),
    delayRatio: ratio(({ delays }) => delays.map(median)),
    rateRatio: ratio(({ rates }) => rates),
  };
}

/** The product or the floor, with its followers. */
class Side {
  /** By round. */
  readonly delays: number[][] = [];
  readonly rates: number[] = [];

  private readonly parts: { messages: HttpTarget; followers: Followers; count: number; load: HttpLoad };

  private constructor(parts: Side['parts']) {
    this.parts = parts;
  }

  static async open(messages: HttpTarget, events: HttpTarget, count: number, load: HttpLoad): Promise<Side> {
    return new Side({ messages, followers: await Followers.connect(events, count), count, load });
  }

  async round({ paced, burst }: FollowersPlan, counts: boolean): Promise<void> {
    const delays: number[] = [];
    for (let number = 0; number < paced; number += 1) {
      const sentAt = performance.now();
      const arrived = this.#arrivals(this.parts.count, () => delays.push(performance.now() - sentAt));
      await this.#post(1);
      await arrived;
      await sleep(pauseMs);
    }
    const begunAt = performance.now();
    const arrived = this.#arrivals(this.parts.count * burst);
    await this.#post(burst);
    await arrived;
    const rate = (this.parts.count * burst * 1000) / (performance.now() - begunAt);
    if (!counts) return;
    this.delays.push(delays);
    this.rates.push(rate);
  }

  close(): void {
    this.parts.followers.close();
  }

  #post(count: number): Promise<number> {
    return this.parts.load.burst(this.parts.messages, count, { recipient: 'solo', body: 'Read this.' });
  }

  /** Resolves when so many events of messages have arrived. */
  #arrivals(expected: number, onEach: () => void = () => undefined): Promise<void> {
    let seen = 0;
    return new Promise((resolve, reject) => {
      const late = setTimeout(() => {
        reject(new Error(`${seen} of ${expected} events arrived`));
      }, patienceMs);
      this.parts.followers.listen(() => {
        seen += 1;
        onEach();
        if (seen < expected) return;
        clearTimeout(late);
        resolve();
      });
    });
  }
}
