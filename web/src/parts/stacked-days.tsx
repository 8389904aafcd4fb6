import type { Usage, UsageFigures } from '@suzumio/sdk/client';
import { type ReactNode, useId } from 'react';
import { Link } from 'wouter';
import { visible } from './visible.js';
import { count, dollars } from './numbers.js';
import { useWidth } from './use-width.js';

/** What is drawn of usage. */
export type Measure = 'cost' | 'tokens';

/** The most that are drawn of a day; what is less expensive is drawn as one. */
const mostSeries = 6;

/** An agent, a model or a project, and what it came to in all days that are shown. */
interface Series {
  id: string;
  name: string;
  project: string | null;
  sum: number;
}

interface Day {
  /** Of UTC, as `2026-11-26`. */
  day: string;
  sum: number;
  /** By the ids of series. */
  parts: ReadonlyMap<string, number>;
  others: number;
}

interface Props {
  usage: Usage;
  measure: Measure;
  /** The days that are drawn, those without calls, too. */
  first: string;
  last: string;
  /** What an agent is called; the others are called what they are. */
  nameOf?: ((agent: string) => string) | undefined;
  /** Where the turns are listed that were paid for so: on that day, or on all of them; of that one, or of all. */
  evidence: (of: { day?: string; name?: string; project?: string | null }) => string | undefined;
}

/** What models cost on each day of UTC, by what usage was added up by besides: drawn, and the same as a table. */
export function StackedDays({ usage, measure, first, last, nameOf, evidence }: Props) {
  const { days, series, others } = stacked(usage, measure);
  const word = measure === 'cost' ? dollars : count;
  const several = new Set(series.map(({ project }) => project)).size > 1;
  const named = ({ name, project }: Series) => {
    if (usage.and === 'agent' && nameOf) return visible(nameOf(name));
    return visible(several && project !== null && usage.and === 'agent' ? `${project} / ${name}` : name);
  };
  if (days.length === 0) return <p className="quiet">No model was asked on these days.</p>;
  return (
    <>
      <Drawing days={days} series={series} measure={measure} first={first} last={last} named={named} />
      <ul className="legend">
        {series.map((one, at) => (
          <li key={one.id}>
            <Swatch at={at} />
            <Evidence href={evidence(one)}>
              <bdi>{named(one)}</bdi>
            </Evidence>
            <span className="quiet">{word(one.sum)}</span>
          </li>
        ))}
        {others > 0 ? (
          <li>
            <Swatch />
            All others <span className="quiet">{word(others)}</span>
          </li>
        ) : null}
      </ul>
      <div className="table-scroll" tabIndex={0} role="group" aria-label="Days as a table">
        <table className="table days-table">
          <thead>
            <tr>
              <th scope="col">Day (UTC)</th>
              <th scope="col" className="number">
                All
              </th>
              {series.map((one) => (
                <th key={one.id} scope="col" className="number">
                  <bdi>{named(one)}</bdi>
                </th>
              ))}
              {others > 0 ? (
                <th scope="col" className="number">
                  Others
                </th>
              ) : null}
            </tr>
          </thead>
          <tbody>
            {days.toReversed().map(({ day, sum, parts, others: rest }) => (
              <tr key={day}>
                <th scope="row">{day}</th>
                <td className="number">
                  <Evidence href={evidence({ day })}>{word(sum)}</Evidence>
                </td>
                {series.map((one) => {
                  const part = parts.get(one.id) ?? 0;
                  return (
                    <td key={one.id} className="number">
                      {part === 0 ? null : <Evidence href={evidence({ day, ...one })}>{word(part)}</Evidence>}
                    </td>
                  );
                })}
                {others > 0 ? <td className="number">{rest > 0 ? word(rest) : ''}</td> : null}
              </tr>
            ))}
          </tbody>
        </table>
      </div>
    </>
  );
}

/** A number or name that leads to what it rests on. */
export function Evidence({ href, children }: { href: string | undefined; children: ReactNode }) {
  if (href === undefined) return children;
  return (
    <Link href={href} className="evidence">
      {children}
    </Link>
  );
}

function Swatch({ at }: { at?: number }) {
  return (
    <svg width="10" height="10" aria-hidden>
      <rect width="10" height="10" rx="2" className={`series-${at ?? 'others'}`} />
    </svg>
  );
}

function stacked({ items }: Usage, measure: Measure): { days: Day[]; series: Series[]; others: number } {
  const amount = (row: UsageFigures) => (measure === 'cost' ? row.costUsd : row.inputTokens + row.outputTokens);
  const idOf = (project: string | null, name: string) => JSON.stringify([project, name]);
  const sums = new Map<string, Series>();
  for (const row of items) {
    if (row.and == null) continue;
    const id = idOf(row.project, row.and);
    const one = sums.get(id) ?? { id, name: row.and, project: row.project, sum: 0 };
    sums.set(id, { ...one, sum: one.sum + amount(row) });
  }
  const series = [...sums.values()].filter(({ sum }) => sum > 0).sort((a, b) => b.sum - a.sum);
  const drawn = new Set(series.slice(0, mostSeries).map(({ id }) => id));
  const days = [...Map.groupBy(items, ({ key }) => key)].map(([day, rows]): Day => {
    const parts = new Map<string, number>();
    let [sum, others] = [0, 0];
    for (const row of rows) {
      sum += amount(row);
      const id = idOf(row.project, row.and ?? '');
      if (row.and != null && drawn.has(id)) parts.set(id, amount(row));
      else others += amount(row);
    }
    return { day, sum, parts, others };
  });
  return { days, series: series.slice(0, mostSeries), others: days.reduce((sum, { others }) => sum + others, 0) };
}

const dayMs = 86_400_000;

/** The day of UTC that is so many days later. */
export function dayAfter(day: string, days = 1): string {
  return new Date(Date.parse(day) + days * dayMs).toISOString().slice(0, 10);
}

const [height, above, below, left] = [168, 10, 24, 52];

function Drawing({
  days,
  series,
  measure,
  first,
  last,
  named,
}: Pick<Props, 'measure' | 'first' | 'last'> & {
  days: readonly Day[];
  series: readonly Series[];
  named: (one: Series) => string;
}) {
  const [width, frame] = useWidth();
  const id = useId();
  const all: string[] = [];
  for (let day = first; day <= last && all.length < 400; day = dayAfter(day)) all.push(day);
  const byDay = new Map(days.map((one) => [one.day, one]));
  const dearest = days.reduce((most, one) => (one.sum > most.sum ? one : most));
  const top = roundUp(dearest.sum);
  const word = measure === 'cost' ? dollars : count;
  const slot = Math.max(1, (width - left) / all.length);
  const bar = Math.max(2, Math.min(28, slot * 0.72));
  const every = Math.ceil(52 / slot);
  const y = (amount: number) => above + height * (1 - amount / top);
  return (
    <div ref={frame}>
      <svg className="days" width={width} height={above + height + below} role="img" aria-labelledby={id}>
        <title id={id}>
          {`${measure === 'cost' ? 'Cost' : 'Tokens'} on each day of UTC from ${first} to ${last}. The most: ${word(dearest.sum)} on ${dearest.day}. The table below has all numbers.`}
        </title>
        {[0, 0.5, 1].map((share) => (
          <g key={share}>
            <line
              x1={left}
              x2={width}
              y1={y(top * share)}
              y2={y(top * share)}
              className={share === 0 ? 'days-ground' : 'days-line'}
            />
            <text x={left - 8} y={y(top * share) + 4} className="days-amount">
              {share === 0 ? '' : measure === 'cost' ? tick(top * share) : count(top * share)}
            </text>
          </g>
        ))}
        {all.map((day, at) => {
          const middle = left + slot * (at + 0.5);
          const isNamed = (all.length - 1 - at) % every === 0 && middle - 24 >= left - 12 && middle + 20 <= width + 4;
          return (
            <g key={day}>
              <Bar
                day={byDay.get(day)}
                series={series}
                x={middle - bar / 2}
                width={bar}
                y={y}
                named={named}
                word={word}
              />
              {isNamed ? (
                <text x={middle} y={above + height + 17} className="days-day">
                  {inShort(day)}
                </text>
              ) : null}
            </g>
          );
        })}
      </svg>
    </div>
  );
}

function Bar({
  day,
  series,
  x,
  width,
  y,
  named,
  word,
}: {
  day: Day | undefined;
  series: readonly Series[];
  x: number;
  width: number;
  y: (amount: number) => number;
  named: (one: Series) => string;
  word: (amount: number) => string;
}) {
  if (day === undefined || day.sum === 0) return null;
  const parts = [
    ...series.map((one, at) => ({ name: named(one), amount: day.parts.get(one.id) ?? 0, class: `series-${at}` })),
    { name: 'all others', amount: day.others, class: 'series-others' },
  ].filter(({ amount }) => amount > 0);
  let upTo = 0;
  return (
    <g>
      <title>
        {`${day.day} (UTC): ${word(day.sum)}\n${parts.map(({ name, amount }) => `${name}: ${word(amount)}`).join('\n')}`}
      </title>
      {parts.map(({ name, amount, class: className }) => {
        const from = upTo;
        upTo += amount;
        return (
          <rect
            key={name}
            x={x}
            y={y(upTo)}
            width={width}
            height={Math.max(1, y(from) - y(upTo))}
            className={className}
          />
        );
      })}
    </g>
  );
}

/** A round amount that is not less. */
function roundUp(amount: number): number {
  if (amount <= 0) return 1;
  const unit = 10 ** Math.floor(Math.log10(amount));
  return unit * ([1, 2, 3, 4, 5, 6, 8].find((times) => times * unit >= amount) ?? 10);
}

/** An amount at the side of a drawing. */
function tick(usd: number): string {
  return usd >= 1 ? `$${usd.toFixed(usd % 1 === 0 ? 0 : 2)}` : `$${Number(usd.toPrecision(2))}`;
}

/** A day of UTC in short: `26 Nov`. */
function inShort(day: string): string {
  return new Date(day).toLocaleDateString('en-GB', { day: 'numeric', month: 'short', timeZone: 'UTC' });
}
