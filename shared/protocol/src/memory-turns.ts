import { memoryShares } from './memory-shares.js';
import { memoryLimitBytes } from './process-memory.js';
import { ProjectTurns } from './project-turns.js';

/**
 * The threads of this process that may take much memory for what an agent has sent or stored: one at a time, each with a heap of at
 * most a quarter of the process's memory, which it gives back before its turn ends. For work of some seconds.
 */
export const memoryTurns = new ProjectTurns();

const mostMb = 512;

/** The heap limit of a thread in its turn, in MiB. */
export function turnHeapMb(memoryBytes = memoryLimitBytes()): number {
  return Math.min(mostMb, Math.floor((memoryBytes * memoryShares.turns) / 1024 ** 2));
}

/** V8 would take three times 16 MiB or more beside the heap. */
export const maxYoungGenerationSizeMb = 16;
