import type { Event, ProjectDetail } from '@suzumio/sdk/client';
import { useInfiniteQuery } from '@tanstack/react-query';
import { useSearchParams } from 'wouter';
import { api, keys } from '../../api.js';
import { Failure } from '../../parts/failure.js';
import { visible } from '../../parts/markdown.js';
import { nameOf } from '../../parts/states.js';
import { Rows } from '../../parts/rows.js';
import { Moment } from '../../parts/time.js';

const part = 100;
/** What a row is likely to be high. */
const rowPx = 34;
const mostValueChars = 200;

/** Everything that has happened in a project, the newest first. */
export function Log({ detail: { project, agents } }: { detail: ProjectDetail }) {
  const [search, setSearch] = useSearchParams();
  const agent = search.get('agent') ?? '';
  const log = useInfiniteQuery({
    queryKey: [...keys.project(project.id), 'events', agent],
    initialPageParam: undefined as number | undefined,
    queryFn: ({ pageParam: after }) =>
      api.listEvents({
        project: project.id,
        query: {
          limit: part,
          order: 'desc',
          ...(after === undefined ? {} : { after }),
          ...(agent === '' ? {} : { agent }),
        },
      }),
    getNextPageParam: ({ next }) => next,
    // What was shown is read again with each event: a few parts are enough to be followed.
    maxPages: 10,
  });
  if (log.error && log.data === undefined) return <Failure error={log.error} again={() => void log.refetch()} />;
  const events = log.data?.pages.flatMap(({ items }) => items) ?? [];
  return (
    <div className="page">
      <label className="field">
        About{' '}
        <select
          value={agent}
          onChange={({ target }) => setSearch(target.value === '' ? {} : { agent: target.value }, { replace: true })}
        >
          <option value="">everything</option>
          {agents.map((one) => (
            <option key={one.id} value={one.id}>
              {nameOf(one)}
            </option>
          ))}
        </select>
      </label>
      <Rows rows={events} render={(event) => <Row event={event} />} heightPx={rowPx} className="log" />
      {log.hasNextPage ? (
        <button
          type="button"
          className="button"
          disabled={log.isFetchingNextPage}
          onClick={() => void log.fetchNextPage()}
        >
          Earlier
        </button>
      ) : null}
    </div>
  );
}

function Row({ event }: { event: Event }) {
  return (
    <div className="log-row">
      <span className="log-time">
        <Moment at={event.createdAt} seconds />
      </span>
      <b className="log-type">{event.type}</b>
      <span className="log-words">
        {event.agent === null ? null : (
          <b>
            <bdi>{event.agent}</bdi>
          </b>
        )}{' '}
        <bdi>{wordsOf(event)}</bdi>
      </span>
    </div>
  );
}

/** What an event says, each field in short. */
function wordsOf({ data }: Event): string {
  return Object.entries(data as Record<string, unknown>)
    .filter(([, value]) => value !== null && value !== undefined)
    .map(([name, value]) => `${name} ${typeof value === 'string' ? value : JSON.stringify(value)}`)
    .map((text) => visible(text.length > mostValueChars ? `${text.slice(0, mostValueChars)}…` : text))
    .join(', ');
}
