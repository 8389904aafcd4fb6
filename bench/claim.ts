import { setTimeout as sleep } from 'node:timers/promises';
import type { Stack } from '../test/support/stack.js';
import { BenchProject } from './bench-project.js';
import type { Floor } from './floor.js';
import { clockMs, type Mark, readMarks, type Stage } from './marks.js';
import { median, type Spread, spread } from './statistics.js';

export interface ClaimPlan {
  warmUp: number;
  slices: number;
  messagesPerSlice: number;
}

export interface ClaimFigures {
  /** From the message's commit to the claim's, and the hop of two jobs through the same Redis. */
  claimMs: Spread;
  floorMs: Spread;
  ratio: number;
  /** The parts of the way, which add up to the whole. */
  stagesMs: Record<string, Spread>;
}

/** The way from a message's commit to its turn's, in order. */
const way: readonly (readonly [stage: Stage, name: string])[] = [
  ['wake handled', 'accepted -> wake handled'],
  ['turn queued', 'wake handled -> turn queued'],
  ['job delivered', 'turn queued -> job delivered'],
  ['claim received', 'job delivered -> claim received'],
  ['events committed', 'claim received -> turn claimed'],
];
const pauseMs = 20;

/** One message at a time to a system at rest, in turn with the floor's hop. */
export async function measureClaims(
  stack: Stack,
  floor: Floor,
  marksDirectory: string,
  plan: ClaimPlan,
): Promise<ClaimFigures> {
  const project = await BenchProject.start(stack, 'bench-claim', ['solo: { role: solo, prompt: Read. }']);
  const sentAtMs: number[] = [];
  const floorMs: number[] = [];
  const sendOne = async () => {
    const begunAtMs = clockMs();
    await project.post('solo', 'Read this.');
    await project.idle();
    await sleep(pauseMs);
    return begunAtMs;
  };
  try {
    for (let count = 0; count < plan.warmUp; count += 1) {
      await sendOne();
      await floor.hop();
    }
    for (let slice = 0; slice < plan.slices; slice += 1) {
      for (let count = 0; count < plan.messagesPerSlice; count += 1) sentAtMs.push(await sendOne());
      for (let count = 0; count < plan.messagesPerSlice; count += 1) {
        floorMs.push(await floor.hop());
        await sleep(pauseMs);
      }
    }
  } finally {
    project.close();
  }
  const marks = readMarks(marksDirectory);
  const ways = sentAtMs.map((atMs) => wayAfter(marks, atMs));
  const claimMs = ways.map((parts) => parts.reduce((sum, part) => sum + part, 0));
  return {
    claimMs: spread(claimMs),
    floorMs: spread(floorMs),
    ratio: median(claimMs) / median(floorMs),
    stagesMs: Object.fromEntries(way.map(([, name], place) => [name, spread(ways.map((parts) => parts[place] ?? 0))])),
  };
}

/** How long each part took for the message that was sent at `atMs`: nothing else was on its way. */
function wayAfter(marks: readonly Mark[], atMs: number): number[] {
  let place = marks.findIndex((mark) => mark.atMs >= atMs && mark.stage === 'wake sent');
  return way.map(([stage, name]) => {
    const before = marks[place];
    place = marks.findIndex((mark, index) => index > place && mark.stage === stage);
    const after = marks[place];
    if (!before || !after) throw new Error(`nothing was seen of a message at: ${name}`);
    return after.atMs - before.atMs;
  });
}
