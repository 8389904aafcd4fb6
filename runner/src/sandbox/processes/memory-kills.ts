import { readFileSync } from 'node:fs';

/** Where the kernel counts, in a container of cgroup v2 and of v1. */
const counters = ['/sys/fs/cgroup/memory.events', '/sys/fs/cgroup/memory/memory.oom_control'];

/** How many processes the kernel has killed because this container's memory was used up; 0 where it does not say. */
export function memoryKills(files: readonly string[] = counters): number {
  for (const file of files) {
    try {
      const [, count] = /^oom_kill (\d+)$/m.exec(readFileSync(file, 'utf8')) ?? [];
      if (count !== undefined) return Number(count);
    } catch {
      // This kernel has the other one, or none.
    }
  }
  return 0;
}
