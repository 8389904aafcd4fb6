import type { Stack } from '../test/support/stack.js';
import { cpuMsOf, memoryBytesOf } from './conditions.js';

/** Something of each service; of all its processes where it has several. */
export type ByService = Record<string, number>;

/** The processor time that each service has used so far, in milliseconds. */
export function cpuByService(stack: Stack): ByService {
  return sumOfProcesses(stack, cpuMsOf);
}

export function memoryByService(stack: Stack): ByService {
  return sumOfProcesses(stack, memoryBytesOf);
}

function sumOfProcesses(stack: Stack, read: (pid: number | undefined) => number): ByService {
  return Object.fromEntries(
    Object.entries(stack.services).map(([service, processes]) => [
      service,
      processes.reduce((sum, { pid }) => sum + read(pid), 0),
    ]),
  );
}
