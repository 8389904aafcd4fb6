/** The ids that one entry under `agents` stands for: itself, or `worker-1`, `worker-2`, … where it is counted. */
export function expandAgentId(base: string, count: number | undefined): string[] {
  return count === undefined ? [base] : Array.from({ length: count }, (_, index) => `${base}-${index + 1}`);
}

/** How many agents an entry stands for: its `count`, else as many as it has `names`. */
export function agentCount(count: number | undefined, names: readonly unknown[] | undefined): number | undefined {
  return count ?? names?.length;
}
