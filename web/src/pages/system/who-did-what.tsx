import { useInfiniteQuery, useQuery } from '@tanstack/react-query';
import { Link, useSearchParams } from 'wouter';
import { api, isForbidden } from '../../api.js';
import { Acts } from '../../parts/acts.js';
import { Copyable } from '../../parts/copy.js';
import { Failure } from '../../parts/failure.js';
import { Icon } from '../../parts/icon.js';
import { visible } from '../../parts/visible.js';
import { Table } from '../../parts/table.js';
import { Moment } from '../../parts/time.js';

/** What people did, of all of them or of one. */
export function WhoDidWhat() {
  const [search] = useSearchParams();
  const actor = search.get('by') ?? undefined;
  const acts = useInfiniteQuery({
    queryKey: ['acts', actor],
    initialPageParam: undefined as string | undefined,
    queryFn: ({ pageParam: before }) =>
      api.listActs({
        query: {
          limit: 50,
          ...(before === undefined ? {} : { before }),
          ...(actor === undefined ? {} : { actor: actor.slice(0, 200) }),
        },
      }),
    getNextPageParam: ({ previous }) => previous,
    staleTime: 10_000,
  });
  const items = acts.data?.pages.flatMap((page) => page.items) ?? [];
  const unreadable = acts.data?.pages[0]?.unreadable ?? [];
  return (
    <section aria-label="Who did what">
      <h2 className="acts-head">
        Who did what
        {actor === undefined ? null : (
          <Link href="/system" className="button" replace>
            <bdi>{visible(actor.slice(0, 200))}</bdi> <Icon name="close" />
            <span className="visually-hidden">, show everybody</span>
          </Link>
        )}
      </h2>
      {acts.error ? <Failure error={acts.error} again={() => void acts.refetch()} /> : null}
      {acts.data && items.length === 0 ? <p className="quiet">Nobody did anything yet.</p> : null}
      {items.length === 0 ? null : <Acts acts={items} actorHref={(one) => `/system?by=${encodeURIComponent(one)}`} />}
      {unreadable.length === 0 ? null : (
        <p className="quiet">What was done to {unreadable.slice(0, 10).join(', ')} cannot be read.</p>
      )}
      <p className="acts-foot">
        {acts.hasNextPage ? (
          <button
            type="button"
            className="button"
            disabled={acts.isFetchingNextPage}
            onClick={() => void acts.fetchNextPage()}
          >
            Earlier
          </button>
        ) : null}
        <Copyable text={`suzumio audit${actor === undefined ? '' : ` --actor ${actor.slice(0, 200)}`}`} />
      </p>
    </section>
  );
}

/** What was refused to people with a good token. */
export function Refused() {
  const audit = useQuery({
    queryKey: ['audit'],
    queryFn: () => api.listAudit({ query: { limit: 50, order: 'desc' } }),
    staleTime: 10_000,
  });
  if (audit.error)
    return isForbidden(audit.error) ? null : <Failure error={audit.error} again={() => void audit.refetch()} />;
  const items = audit.data?.items ?? [];
  return (
    <section aria-label="Refused">
      <h2>Refused requests</h2>
      {items.length === 0 ? (
        <p className="quiet">Nobody with a good token was refused anything.</p>
      ) : (
        <Table
          rows={items}
          keyOf={({ seq }) => String(seq)}
          columns={[
            { title: 'When', cell: ({ at }) => <Moment at={at} /> },
            { title: 'Token', names: true, cell: ({ token }) => <bdi>{token}</bdi> },
            { title: 'Why', cell: ({ code }) => <code>{code}</code> },
            {
              title: 'What',
              className: 'wide',
              classOf: () => 'clip',
              cell: ({ method, route }) => `${method} ${route}`,
            },
          ]}
        />
      )}
    </section>
  );
}
