/** The deepest that lists and objects may be nested in what an agent sends, far below what exhausts a stack. */
export const maxNesting = 64;

/** Whether a value is nested no deeper than that. Looks at one level after the other, so that it bears any depth itself. */
export function isShallow(value: unknown): boolean {
  let level: unknown[] = [value];
  for (let depth = 0; depth <= maxNesting; depth += 1) {
    level = level.flatMap((item): unknown[] => (typeof item === 'object' && item !== null ? Object.values(item) : []));
    if (level.length === 0) return true;
  }
  return false;
}

/** What is said of a value that is nested deeper. */
export const tooDeep = `lists and objects within one another, at most ${String(maxNesting)} deep`;
