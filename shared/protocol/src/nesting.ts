/** The deepest nesting of lists and objects in what an agent sends, far below what exhausts a stack. */
export const maxNesting = 64;

/** Whether a value's nesting is within the limit. Checks level by level, without recursion. */
export function isShallow(value: unknown): boolean {
  let level: unknown[] = [value];
  for (let depth = 0; depth <= maxNesting; depth += 1) {
    level = level.flatMap((item): unknown[] => (typeof item === 'object' && item !== null ? Object.values(item) : []));
    if (level.length === 0) return true;
  }
  return false;
}

/** The description of the limit in error messages. */
export const tooDeep = `lists and objects within one another, at most ${String(maxNesting)} deep`;
