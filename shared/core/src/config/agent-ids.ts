/** The ids of one entry under `agents`: its own, or `worker-1`, `worker-2`, … for a counted one. */
export function expandAgentId(base: string, count: number | undefined): string[] {
  return count === undefined ? [base] : Array.from({ length: count }, (_, index) => `${base}-${index + 1}`);
}

/** How many agents an entry has: its `count`, else the number of its `names`. */
export function agentCount(count: number | undefined, names: readonly unknown[] | undefined): number | undefined {
  return count ?? names?.length;
}
