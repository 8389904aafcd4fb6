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

/** The parts of the way from a message's commit to its turn's, in order. */
const way = [
  'accepted -> wake handled',
  'wake handled -> turn queued',
  'turn queued -> job delivered',
  'job delivered -> claim received',
  'claim received -> turn claimed',
] as const;
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
  const seen = sentAtMs.map((atMs) => follow(marks, atMs));
  const claimMs = seen.map(({ wholeMs }) => wholeMs);
  const woken = seen.flatMap(({ partsMs }) => (partsMs ? [partsMs] : []));
  return {
    claimMs: spread(claimMs),
    floorMs: spread(floorMs),
    ratio: median(claimMs) / median(floorMs),
    stagesMs: Object.fromEntries(way.map((name, place) => [name, spread(woken.map((parts) => parts[place] ?? 0))])),
  };
}

/**
 * What was seen of the message that was sent at `atMs`: nothing else was on its way. It has no parts where a round of
 * the sweep came before its wake.
 */
function follow(marks: readonly Mark[], atMs: number): { wholeMs: number; partsMs?: number[] } {
  const next = (stage: Stage, afterMs: number): number => {
    const mark = marks.find((candidate) => candidate.stage === stage && candidate.atMs >= afterMs);
    if (!mark) throw new Error(`nothing was seen of a message: ${stage}`);
    return mark.atMs;
  };
  const accepted = next('wake sent', atMs);
  const handled = next('wake handled', accepted);
  const queued = next('turn queued', accepted);
  const delivered = next('job delivered', queued);
  const received = next('claim received', delivered);
  const claimed = next('events committed', received);
  const moments = [accepted, handled, queued, delivered, received, claimed];
  const partsMs = moments.slice(1).map((moment, place) => moment - (moments[place] ?? 0));
  const wholeMs = claimed - accepted;
  return handled > queued ? { wholeMs } : { wholeMs, partsMs };
}
