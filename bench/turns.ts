import type { Stack } from '../test/support/stack.js';
import { BenchProject } from './bench-project.js';
import { cpuByService } from './services.js';
import type { Floor } from './floor.js';
import { median, type Spread, spread } from './statistics.js';

export interface TurnsPlan {
  rounds: number;
  /** Turns that one token makes in a slice. */
  hops: number;
  floorHops: number;
  /** How many turns are under way at a time. */
  tokens: number;
}

export interface TurnsFigures {
  projects: number;
  turnsPerSecond: Spread;
  floorPerSecond: number;
  /** The median of the rounds' own ratios. */
  ratio: number;
  /** Processor time of a turn by service, in milliseconds: other work on the machine hardly changes it. */
  cpuMs: Record<string, Spread>;
}

interface Setup {
  projects: readonly BenchProject[];
  pairs: number;
  rates: number[];
  /** By service, one figure a round. */
  cpuMs: Record<string, number[]>;
}

/**
 * Whole turns: pairs of agents answer each other's mail through the door, so that each turn is a message, a schedule, a
 * claim, a tool call and a report. Each round measures the floor, then each number of projects.
 */
export async function measureTurns(
  stack: Stack,
  floor: Floor,
  projectCounts: readonly number[],
  plan: TurnsPlan,
): Promise<TurnsFigures[]> {
  const setups: Setup[] = [];
  for (const count of projectCounts) {
    const pairs = plan.tokens / count;
    const agents = ['ping', 'pong'].map(
      (id) => `${id}: { role: ${id}, prompt: Answer., tools: [messages.send], count: ${pairs} }`,
    );
    const projects: BenchProject[] = [];
    for (let n = 1; n <= count; n += 1) {
      projects.push(await BenchProject.start(stack, `bench-turns-${count}-${n}`, agents));
    }
    setups.push({ projects, pairs, rates: [], cpuMs: {} });
  }
  const floors: number[] = [];
  // The first round is the warm-up.
  for (let round = 0; round <= plan.rounds; round += 1) {
    const floorRate = await floor.burst(plan.tokens, plan.floorHops);
    if (round > 0) floors.push(floorRate);
    for (const setup of setups) {
      const before = cpuByService(stack);
      const rate = await burst(setup, plan.hops);
      if (round === 0) continue;
      setup.rates.push(rate);
      for (const [service, ms] of Object.entries(cpuByService(stack))) {
        (setup.cpuMs[service] ??= []).push((ms - (before[service] ?? 0)) / (plan.tokens * plan.hops));
      }
    }
  }
  return setups.map(({ projects, rates, cpuMs }) => {
    for (const project of projects) project.close();
    return {
      projects: projects.length,
      turnsPerSecond: spread(rates),
      floorPerSecond: median(floors),
      ratio: median(rates.map((rate, round) => rate / (floors[round] ?? Number.NaN))),
      cpuMs: Object.fromEntries(Object.entries(cpuMs).map(([service, ms]) => [service, spread(ms)])),
    };
  });
}

/** Whole turns a second, from the first message to the last turn's end. */
async function burst({ projects, pairs }: Setup, hops: number): Promise<number> {
  const begunMs = Date.now();
  await Promise.all(
    projects.map(async (project) => {
      for (let pair = 1; pair <= pairs; pair += 1) await project.post(`ping-${pair}`, String(hops - 1));
    }),
  );
  for (const project of projects) await project.idle();
  const turns = projects.map((project) => project.turnsSince(begunMs));
  const count = turns.reduce((sum, turn) => sum + turn.count, 0);
  if (count !== projects.length * pairs * hops) throw new Error(`${count} turns were made`);
  return (count * 1000) / (Math.max(...turns.map(({ endedMs }) => endedMs)) - begunMs);
}
