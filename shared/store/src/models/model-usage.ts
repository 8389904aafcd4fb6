import type { DaySpending } from '@suzumio/core/budgets/day-budget';
import { nanoPerUsd } from '@suzumio/core/budgets/model-cost';
import type { StoredView } from '@suzumio/contract/model/storage';
import {
  type DaySpendingView,
  mostNamed,
  type UsageAnswer,
  type UsageFigures,
  type UsageGroup,
  type UsageRow,
} from '@suzumio/contract/model/usage';
import { dayOfCall, isPaid } from '../budgets/paid-calls.js';
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
  cached: number;
  nanoUsd: number;
  estimated: number;
}

/** Sums of one project, one for each group; `also` is of the second thing that they are grouped by. */
export type ProjectUsage = (Sums & { key: string; also: string })[];

/** What is added up by: one thing, or two. */
export type UsageBy = readonly UsageGroup[];

const keys: Readonly<Record<UsageGroup, string>> = {
  project: `''`,
  agent: 'agent_id',
  model: 'model',
  day: dayOfCall,
};

/** How many calls one slice adds up: some ms. */
const callsInSlice = 10_000;

/** The usage of one project's model calls, in slices of bounded work: a server handles other requests in between. */
export function* usageSlices(reader: SqlReader, by: UsageBy, span: UsageSpan): Generator<ProjectUsage> {
  const last = reader.get<{ seq: number | null }>('SELECT max(seq) AS seq FROM model_calls')?.seq ?? 0;
  for (let after = 0; after < last; after += callsInSlice) yield usageSlice(reader, by, span, after);
}

function usageSlice(reader: SqlReader, by: UsageBy, { fromMs = 0, toMs }: UsageSpan, after: number): ProjectUsage {
  const [first = 'project', second = 'project'] = by;
  return reader.all<ProjectUsage[number]>(
    `SELECT ${keys[first]} AS key, ${keys[second]} AS also, count(*) AS calls, sum(input_tokens) AS input, sum(output_tokens) AS output,
       sum(cached_tokens) AS cached, sum(nano_usd) AS nanoUsd, sum(CASE estimated WHEN 1 THEN input_tokens + output_tokens ELSE 0 END) AS estimated
     FROM model_calls WHERE ${isPaid} AND ended_at_ms >= :from AND ended_at_ms < :to
       AND seq > :after AND seq <= :until GROUP BY 1, 2`,
    { from: fromMs, to: toMs ?? Number.MAX_SAFE_INTEGER, after, until: after + callsInSlice },
  );
}

const maxRows = 1000;

/** What one row adds up. */
interface Entry {
  project: string | null;
  key: string;
  also: string | null;
  sums: Sums;
}

/** Adds up the usage of several projects. */
export class UsageSum {
  readonly #entries = new Map<string, Entry>();
  readonly #total = nothing();

  /** @param named of the second thing that is added up by, what is not added up as one; all of it without */
  constructor(
    private readonly by: UsageBy,
    private readonly named?: ReadonlySet<string>,
  ) {}

  add(project: string, usage: ProjectUsage): void {
    const [first = 'project', second] = this.by;
    for (const { key: ownKey, also: ownAlso, ...sums } of usage) {
      const key = first === 'project' ? project : ownKey;
      const also = second === undefined ? null : second === 'project' ? project : ownAlso;
      const isOther = second !== undefined && this.named?.has(idOf(second, project, also)) === false;
      const ofProject = isOfProject(first) || (!isOther && second !== undefined && isOfProject(second));
      const id = JSON.stringify([ofProject ? project : null, key, isOther ? null : also]);
      const entry = this.#entries.get(id) ?? {
        project: ofProject ? project : null,
        key,
        also: isOther ? null : also,
        sums: nothing(),
      };
      this.#entries.set(id, entry);
      addTo(entry.sums, sums);
      addTo(this.#total, sums);
    }
  }

  /** The most expensive, by which {@link UsageSum} names them. */
  mostExpensive(): Set<string> {
    const [first = 'project'] = this.by;
    const entries = [...this.#entries.values()].sort((a, b) => dearerFirst(a.sums, b.sums));
    return new Set(entries.slice(0, mostNamed).map(({ project, key }) => idOf(first, project, key)));
  }

  answer(today: DaySpendingView | null, stored: StoredView): UsageAnswer {
    const [by = 'project', and] = this.by;
    const groups = [...Map.groupBy(this.#entries.values(), (entry) => idOf(by, entry.project, entry.key)).values()].map(
      (entries) => ({
        key: entries[0]?.key ?? '',
        sums: entries.reduce((sum, entry) => (addTo(sum, entry.sums), sum), nothing()),
        entries: entries.sort(
          (a, b) => Number(a.also === null) - Number(b.also === null) || dearerFirst(a.sums, b.sums),
        ),
      }),
    );
    groups.sort((a, b) => (by === 'day' ? (a.key < b.key ? 1 : -1) : dearerFirst(a.sums, b.sums)));
    // Groups are kept whole: of days the newest, of others the most expensive.
    const kept: (typeof groups)[number][] = [];
    let rows = 0;
    for (const group of groups) {
      if (rows + group.entries.length > maxRows) break;
      rows += group.entries.length;
      kept.push(group);
    }
    if (by === 'day') kept.reverse();
    const items = kept.flatMap(({ entries }) =>
      entries.map(({ project, key, also, sums }): UsageRow => ({
        project,
        key,
        ...(and && { and: also }),
        ...figures(sums),
      })),
    );
    const more = this.#entries.size - items.length;
    return { by, ...(and && { and }), items, more, total: figures(this.#total), today, stored };
  }
}

/** Whether equal names mean others in other projects. */
function isOfProject(group: UsageGroup): boolean {
  return group === 'project' || group === 'agent';
}

function idOf(group: UsageGroup, project: string | null, key: string | null): string {
  return JSON.stringify([isOfProject(group) ? project : null, key]);
}

function dearerFirst(a: Sums, b: Sums): number {
  return b.nanoUsd - a.nanoUsd || tokens(b) - tokens(a);
}

/** The cell's spending of a day, and its budget. */
export function dayView(day: DaySpending, budgetUsd: number | undefined): DaySpendingView {
  const [spentUsd, heldUsd] = [day.spentNanoUsd / nanoPerUsd, day.heldNanoUsd / nanoPerUsd];
  const left = budgetUsd === undefined ? null : Math.max(0, budgetUsd - spentUsd - heldUsd);
  return { day: day.day, spentUsd, heldUsd, budgetUsd: budgetUsd ?? null, leftUsd: left };
}

function nothing(): Sums {
  return { calls: 0, input: 0, output: 0, cached: 0, nanoUsd: 0, estimated: 0 };
}

function addTo(sum: Sums, more: Sums): void {
  sum.calls += more.calls;
  sum.input += more.input;
  sum.output += more.output;
  sum.cached += more.cached;
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
    cachedTokens: sums.cached,
    costUsd: sums.nanoUsd / nanoPerUsd,
    estimatedShare: tokens(sums) === 0 ? 0 : sums.estimated / tokens(sums),
  };
}
