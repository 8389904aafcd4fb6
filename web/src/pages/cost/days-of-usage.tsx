import { useQuery } from '@tanstack/react-query';
import { Link, useLocation, useSearchParams } from 'wouter';
import { api, keys } from '../../api.js';
import { Failure } from '../../parts/failure.js';
import { dayAfter, type Measure, StackedDays } from '../../parts/stacked-days.js';
import { turnsPath } from '../../parts/places.js';

const days = 30;
/** Costs of all projects have no event of their own. */
const everyMs = 60_000;

type Second = 'project' | 'agent' | 'model';
const secondWords: Readonly<Record<Second, string>> = { project: 'Projects', agent: 'Agents', model: 'Models' };
const measureWords: Readonly<Record<Measure, string>> = { cost: 'Cost', tokens: 'Tokens' };

/**
 * What models cost, day by day of UTC, by what the address asks for: thirty days, up to now or to a day.
 *
 * @param project the only project; all of them without
 */
export function DaysOfUsage({
  project,
  seconds,
  nameOf,
}: {
  project?: string;
  seconds: readonly [Second, ...Second[]];
  nameOf?: (agent: string) => string;
}) {
  const [location] = useLocation();
  const [search, setSearch] = useSearchParams();
  const second = seconds.find((one) => one === search.get('by')) ?? seconds[0];
  const written = search.get('until') ?? '';
  const today = new Date().toISOString().slice(0, 10);
  const until = isDay(written) && written < today ? written : undefined;
  const last = until ?? today;
  const first = dayAfter(last, 1 - days);
  const usage = useQuery({
    queryKey: [
      ...(project === undefined ? ['usage'] : [...keys.project(project), 'usage']),
      { by: second, first, last: until },
    ],
    queryFn: () =>
      api.getUsage({
        query: {
          by: `day,${second}`,
          from: first,
          ...(project === undefined ? {} : { project }),
          ...(until === undefined ? {} : { to: dayAfter(until) }),
        },
      }),
    ...(project === undefined ? { refetchInterval: everyMs, staleTime: everyMs } : {}),
    placeholderData: (before) => before,
  });
  const measure: Measure =
    search.get('of') === 'tokens' || (search.get('of') !== 'cost' && usage.data?.total.costUsd === 0)
      ? 'tokens'
      : 'cost';
  const choose = (name: string, value: string) =>
    setSearch((old) => new URLSearchParams([...[...old].filter(([key]) => key !== name), [name, value]]), {
      replace: true,
    });
  const evidence = (of: { day?: string; name?: string; project?: string | null }) => {
    const whose = project ?? (second === 'project' ? of.name : of.project);
    if (whose == null) return undefined;
    return turnsPath(whose, {
      ...(of.day === undefined ? {} : { on: of.day }),
      ...(of.name === undefined || second !== 'agent' ? {} : { agent: of.name }),
      ...(of.name === undefined || second !== 'model' ? {} : { model: of.name }),
    });
  };
  const at = (day?: string) => {
    const next = new URLSearchParams(search);
    if (day === undefined) next.delete('until');
    else next.set('until', day);
    return `${location}?${next.toString()}`;
  };
  return (
    <section aria-label="By day">
      <header className="days-head">
        <h2>
          By day{' '}
          <span className="pane-note">
            of UTC, {first} to {last}
          </span>
        </h2>
        <Switch
          words={secondWords}
          of={seconds}
          chosen={second}
          choose={(one) => choose('by', one)}
          name="Added up by"
        />
        <Switch
          words={measureWords}
          of={['cost', 'tokens']}
          chosen={measure}
          choose={(one) => choose('of', one)}
          name="What is drawn"
        />
      </header>
      {usage.error ? <Failure error={usage.error} again={() => void usage.refetch()} /> : null}
      {usage.data === undefined ? null : (
        <StackedDays
          usage={usage.data}
          measure={measure}
          first={first}
          last={last}
          nameOf={nameOf}
          evidence={evidence}
        />
      )}
      <nav className="days-further" aria-label="Other days">
        <Link href={at(dayAfter(first, -1))} className="button">
          Earlier days
        </Link>
        {until === undefined ? null : (
          <Link href={at()} className="button">
            Newest days
          </Link>
        )}
      </nav>
    </section>
  );
}

function isDay(text: string): boolean {
  return /^20\d\d-\d\d-\d\d$/.test(text) && !Number.isNaN(Date.parse(text));
}

function Switch<Choice extends string>({
  words,
  of,
  chosen,
  choose,
  name,
}: {
  words: Readonly<Record<Choice, string>>;
  of: readonly Choice[];
  chosen: Choice;
  choose: (one: Choice) => void;
  name: string;
}) {
  return (
    <div className="switch" role="group" aria-label={name}>
      {of.map((one) => (
        <button key={one} type="button" aria-pressed={one === chosen} onClick={() => choose(one)}>
          {words[one]}
        </button>
      ))}
    </div>
  );
}
