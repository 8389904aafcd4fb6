import type { Stack } from '../test/support/stack.js';
import { BenchProject } from './bench-project.js';
import type { HttpFloor } from './http-floor.js';
import { HttpLoad } from './http-load.js';
import { median, type Spread, spread } from './statistics.js';

export interface MessagesPlan {
  rounds: number;
  messagesPerRound: number;
}

export interface MessagesFigures {
  connections: number;
  acceptedPerSecond: Spread;
  floorPerSecond: number;
  /** The median of the rounds' own ratios. */
  ratio: number;
}

/** How many messages a second are accepted, for a project that has not been started: nothing else is done for them. */
export async function measureMessages(
  stack: Stack,
  floor: HttpFloor,
  connectionCounts: readonly number[],
  plan: MessagesPlan,
): Promise<MessagesFigures[]> {
  const project = await BenchProject.make(stack, 'bench-messages', ['solo: { role: solo, prompt: Read. }']);
  try {
    const figures: MessagesFigures[] = [];
    for (const connections of connectionCounts) {
      figures.push(await measure(project, floor, connections, plan));
    }
    return figures;
  } finally {
    project.close();
  }
}

async function measure(
  project: BenchProject,
  floor: HttpFloor,
  connections: number,
  { rounds, messagesPerRound }: MessagesPlan,
): Promise<MessagesFigures> {
  const load = new HttpLoad(connections);
  const message = { recipient: 'solo', body: 'Read this.' };
  const rates: { accepted: number; floor: number }[] = [];
  // The first round is the warm-up.
  for (let round = 0; round <= rounds; round += 1) {
    const floorRate = await load.burst({ url: floor.messagesUrl }, messagesPerRound, message);
    const accepted = await load.burst(project.messages, messagesPerRound, message);
    if (round > 0) rates.push({ accepted, floor: floorRate });
  }
  load.close();
  return {
    connections,
    acceptedPerSecond: spread(rates.map(({ accepted }) => accepted)),
    floorPerSecond: median(rates.map((rate) => rate.floor)),
    ratio: median(rates.map((rate) => rate.accepted / rate.floor)),
  };
}
