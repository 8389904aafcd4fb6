import { setTimeout as sleep } from 'node:timers/promises';
import type { Stack } from '../test/support/stack.js';
import { BenchProject } from './bench-project.js';
import { type ByService, cpuByService, memoryByService } from './services.js';
import { type Spread, spread } from './statistics.js';

export interface IdlePlan {
  projects: number;
  measureMs: number;
}

type SpreadByService = Record<string, Spread>;

/** What running projects without mail cost. */
export interface IdleFigures {
  projects: number;
  /** Processor time that each service uses in a second of doing nothing, in milliseconds. */
  cpuMsPerSecond: SpreadByService;
  /** What each process holds in memory. */
  memoryMiB: SpreadByService;
}

const settleMs = 3_000;
const slices = 5;
const atOnce = 4;

/** First without any project, then with many. */
export async function measureIdle(stack: Stack, { projects, measureMs }: IdlePlan): Promise<IdleFigures[]> {
  const empty = await look(stack, 0, measureMs);
  const numbers = Array.from({ length: projects }).keys();
  const lane = async () => {
    for (const number of numbers) {
      const project = await BenchProject.start(stack, `bench-idle-${number}`, ['solo: { role: solo, prompt: Read. }']);
      project.close();
    }
  };
  await Promise.all(Array.from({ length: atOnce }, lane));
  return [empty, await look(stack, projects, measureMs)];
}

async function look(stack: Stack, projects: number, measureMs: number): Promise<IdleFigures> {
  await sleep(settleMs);
  const processor: ByService[] = [];
  const memory: ByService[] = [];
  for (let slice = 0; slice < slices; slice += 1) {
    const before = cpuByService(stack);
    const begunAt = performance.now();
    await sleep(measureMs / slices);
    const seconds = (performance.now() - begunAt) / 1000;
    const used = Object.entries(cpuByService(stack));
    processor.push(Object.fromEntries(used.map(([service, ms]) => [service, (ms - (before[service] ?? 0)) / seconds])));
    const held = Object.entries(memoryByService(stack));
    memory.push(Object.fromEntries(held.map(([service, bytes]) => [service, bytes / 1024 ** 2])));
  }
  return { projects, cpuMsPerSecond: spreads(processor), memoryMiB: spreads(memory) };
}

function spreads(samples: readonly ByService[]): SpreadByService {
  const services = Object.keys(samples[0] ?? {});
  return Object.fromEntries(
    services.map((service) => [service, spread(samples.map((sample) => sample[service] ?? Number.NaN))]),
  );
}
