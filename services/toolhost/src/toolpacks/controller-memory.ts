import { memoryShares } from '@suzumio/protocol/memory-shares';
import { memoryLimitBytes } from '@suzumio/protocol/process-memory';

/** What the processes of controllers may take, in MiB where it is memory. */
export interface ControllerMemory {
  /** How many run at a time. */
  atOnce: number;
  /** A whole process, with what is in no heap. */
  processMb: number;
  /** The objects of a module. */
  heapMb: number;
  /** Each of the three parts of what V8 has for new objects. */
  semiSpaceMb: number;
}

const most = { atOnce: 4, processMb: 256, heapMb: 128 };
/** Of a module that does little, Node takes a quarter. */
const leastMb = 64;

/** Divides the share of controllers: fewer at a time before less for each. */
export function controllerMemory(memoryBytes = memoryLimitBytes()): ControllerMemory {
  const allMb = Math.floor((memoryBytes * memoryShares.controllers) / 1024 ** 2);
  const atOnce = Math.min(most.atOnce, Math.max(1, Math.floor(allMb / leastMb)));
  const processMb = Math.min(most.processMb, Math.max(leastMb, Math.floor(allMb / atOnce)));
  return {
    atOnce,
    processMb,
    heapMb: Math.min(most.heapMb, Math.floor((processMb * 5) / 8)),
    semiSpaceMb: Math.floor(processMb / 16),
  };
}
