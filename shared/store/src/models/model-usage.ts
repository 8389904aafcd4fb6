import type { DaySpending } from '@suzumio/core/budgets/day-budget';
import { nanoPerUsd } from '@suzumio/core/budgets/model-cost';
import type { StoredView } from '@suzumio/contract/model/storage';
import type { DaySpendingView, UsageAnswer, UsageFigures, UsageGroup, UsageRow } from '@suzumio/contract/model/usage';
import type { SqlReader } from '../sqlite/sql.js';

/** The calls that count: those that ended from the first moment on and before the second. */
export interface UsageSpan {
  fromMs?: number | undefined;
  toMs?: number | undefined;
}

/** What is added up: integers, so that sums stay exact. */
interface Sums {
  calls: number;
  input: number;
  output: number;
  nanoUsd: number;
  estimated: number;
}

/** Sums of one project, one for each group. */
export type ProjectUsage = (Sums & { key: string })[];

const keys: Readonly<Record<UsageGroup, string>> = {
  project: `''`,
  agent: 'agent_id',
  model: 'model',
  day: `date(ended_at_ms / 1000, 'unixepoch')`,
};

/** How many calls one slice adds up: some ms. */
const callsInSlice = 10_000;

/** The usage of one project's model calls, in slices of bounded work: a server handles other requests in between. */
export function* usageSlices(reader: SqlReader, by: UsageGroup, span: UsageSpan): Generator<ProjectUsage> {
  const last = reader.get<{ seq: number | null }>('SELECT max(seq) AS seq FROM model_calls')?.seq ?? 0;
  for (let after = 0; after < last; after += callsInSlice) yield usageSlice(reader, by, span, after);
}

function usageSlice(reader: SqlReader, by: UsageGroup, { fromMs = 0, toMs }: UsageSpan, after: number): ProjectUsage {
  return reader.all<ProjectUsage[number]>(
    `SELECT ${keys[by]} AS key, count(*) AS calls, sum(input_tokens) AS input, sum(output_tokens) AS output,
       sum(nano_usd) AS nanoUsd, sum(CASE estimated WHEN 1 THEN input_tokens + output_tokens ELSE 0 END) AS estimated
     FROM model_calls WHERE (status = 'answered' OR input_tokens + output_tokens > 0) AND ended_at_ms >= :from AND ended_at_ms < :to
       AND seq > :after AND seq <= :until GROUP BY 1`,
    { from: fromMs, to: toMs ?? Number.MAX_SAFE_INTEGER, after, until: after + callsInSlice },
  );
}

const maxRows = 1000;

/** Adds up the usage of several projects. */
export class UsageSum {
  readonly #sums = new Map<string, { project: string | null; key: string; sums: Sums }>();
  readonly #total = nothing();

  constructor(private readonly by: UsageGroup) {}

  add(project: string, usage: ProjectUsage): void {
    const ofProject = this.by === 'project' || this.by === 'agent';
    for (const { key, ...sums } of usage) {
      const name = this.by === 'project' ? project : key;
      const id = `${ofProject ? project : ''}/${name}`;
      const entry = this.#sums.get(id) ?? { project: ofProject ? project : null, key: name, sums: nothing() };
      this.#sums.set(id, entry);
      addTo(entry.sums, sums);
      addTo(this.#total, sums);
    }
  }

  answer(today: DaySpendingView | null, stored: StoredView): UsageAnswer {
    const rows = [...this.#sums.values()].sort((a, b) =>
      this.by === 'day' ? (a.key < b.key ? -1 : 1) : b.sums.nanoUsd - a.sums.nanoUsd || tokens(b.sums) - tokens(a.sums),
    );
    // Of days, the newest are kept.
    const kept = this.by === 'day' ? rows.slice(-maxRows) : rows.slice(0, maxRows);
    const items = kept.map(({ project, key, sums }): UsageRow => ({ project, key, ...figures(sums) }));
    return { by: this.by, items, more: rows.length - kept.length, total: figures(this.#total), today, stored };
  }
}

/** The cell's spending of a day, and its budget. */
export function dayView(day: DaySpending, budgetUsd: number | undefined): DaySpendingView {
  const [spentUsd, heldUsd] = [day.spentNanoUsd / nanoPerUsd, day.heldNanoUsd / nanoPerUsd];
  const left = budgetUsd === undefined ? null : Math.max(0, budgetUsd - spentUsd - heldUsd);
  return { day: day.day, spentUsd, heldUsd, budgetUsd: budgetUsd ?? null, leftUsd: left };
}

function nothing(): Sums {
  return { calls: 0, input: 0, output: 0, nanoUsd: 0, estimated: 0 };
}

function addTo(sum: Sums, more: Sums): void {
  sum.calls += more.calls;
  sum.input += more.input;
  sum.output += more.output;
  sum.nanoUsd += more.nanoUsd;
  sum.estimated += more.estimated;
}

function tokens({ input, output }: Sums): number {
  return input + output;
}

function figures(sums: Sums): UsageFigures {
  return {
    calls: sums.calls,
    inputTokens: sums.input,
    outputTokens: sums.output,
    costUsd: sums.nanoUsd / nanoPerUsd,
    estimatedShare: tokens(sums) === 0 ? 0 : sums.estimated / tokens(sums),
  };
}
