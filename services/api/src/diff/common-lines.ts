import sequences from '@jest/diff-sequences';

/** Its types are those of its CommonJS build; to an ES module its default export is the function itself. */
const diffSequence = sequences as unknown as typeof sequences.default;

/** Lines that two texts have in common: `length` of them, from these places on. */
export interface CommonLines {
  before: number;
  after: number;
  length: number;
}

/** How many pairs of lines may be compared: the time is otherwise the product of two texts that share little. */
export class Comparisons {
  constructor(private left: number) {}

  get remaining(): number {
    return Math.max(0, this.left);
  }

  /** @returns false where there are none left */
  take(): boolean {
    this.left -= 1;
    return this.left >= 0;
  }
}

/** The longest series of lines that both texts have, in their order; only beginning and end where it takes too long. */
export function commonLines(
  before: readonly string[],
  after: readonly string[],
  comparisons: Comparisons,
): CommonLines[] {
  const numbers = new Map<string, number>();
  const numbered = (lines: readonly string[]) =>
    lines.map((line) => {
      const number = numbers.get(line) ?? numbers.size;
      numbers.set(line, number);
      return number;
    });
  const [a, b] = [numbered(before), numbered(after)];
  const found: CommonLines[] = [];
  try {
    diffSequence(
      a.length,
      b.length,
      (at, to) => {
        if (!comparisons.take()) throw new TooDifferent();
        return a[at] === b[to];
      },
      (length, at, to) => found.push({ before: at, after: to, length }),
    );
    return found;
  } catch (error) {
    if (error instanceof TooDifferent) return ends(a, b);
    throw error;
  }
}

class TooDifferent extends Error {}

/** The common beginning and end. */
function ends(before: readonly number[], after: readonly number[]): CommonLines[] {
  const shorter = Math.min(before.length, after.length);
  let first = 0;
  while (first < shorter && before[first] === after[first]) first += 1;
  let last = 0;
  while (last < shorter - first && before.at(-1 - last) === after.at(-1 - last)) last += 1;
  return [
    { before: 0, after: 0, length: first },
    { before: before.length - last, after: after.length - last, length: last },
  ].filter(({ length }) => length > 0);
}
