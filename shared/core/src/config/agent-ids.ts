/** Numbered ids: `worker-1`, `worker-2`, … */
export function numberedIds(base: string, count: number): string[] {
  return Array.from({ length: count }, (_, index) => `${base}-${index + 1}`);
}

/** The ids of one entry under `agents`: its own, or numbered ones where its `count` is more than one. */
export function idsOfEntry(base: string, count = 1): string[] {
  return count === 1 ? [base] : numberedIds(base, count);
}
