import type { Row } from './rows.js';
import { figure, table } from './statistics.js';

export type Verdict = 'better' | 'worse' | 'within the spread';

export interface Comparison {
  rows: { before: Row; after: Row; verdict: Verdict }[];
  /** The names of rows that only one of the runs has. */
  onlyBefore: string[];
  onlyAfter: string[];
}

/** Compares two runs, row by row. */
export function compare(before: readonly Row[], after: readonly Row[]): Comparison {
  const earlier = new Map(before.map((row) => [row.name, row]));
  const later = new Set(after.map(({ name }) => name));
  return {
    rows: after.flatMap((row) => {
      const prior = earlier.get(row.name);
      return prior ? [{ before: prior, after: row, verdict: verdictOf(prior, row) }] : [];
    }),
    onlyBefore: before.map(({ name }) => name).filter((name) => !later.has(name)),
    onlyAfter: after.map(({ name }) => name).filter((name) => !earlier.has(name)),
  };
}

/** A row has changed where the median of each run is outside the middle eight tenths of the other's samples. */
function verdictOf(before: Row, after: Row): Verdict {
  const isWithin = ({ value }: Row, { spread }: Row) => value >= spread.p10 && value <= spread.p90;
  if (isWithin(before, after) || isWithin(after, before)) return 'within the spread';
  const isMore = after.value > before.value;
  return isMore === (after.unit === 'a second') ? 'better' : 'worse';
}

/** A comparison for people: what changed first. */
export function comparisonText({ rows, onlyBefore, onlyAfter }: Comparison): string {
  const order: Verdict[] = ['worse', 'better', 'within the spread'];
  const sorted = order.flatMap((verdict) => rows.filter((row) => row.verdict === verdict));
  const floors = ({ ratio }: Row) => (ratio === null ? '' : figure(ratio));
  return [
    table([
      ['beside the earlier run', 'before', 'p10 - p90', 'now', 'p10 - p90', 'floors before', 'now', ''],
      ...sorted.map(({ before, after, verdict }) => [
        `  ${after.name}, ${after.unit}`,
        ...[before, after].flatMap(({ value, spread }) => [
          figure(value),
          `${figure(spread.p10)} - ${figure(spread.p90)}`,
        ]),
        floors(before),
        floors(after),
        verdict,
      ]),
    ]),
    ...onlyBefore.map((name) => `missing now: ${name}`),
    ...onlyAfter.map((name) => `missing in the earlier run: ${name}`),
  ].join('\n');
}
