import { useQuery } from '@tanstack/react-query';
import { Link, useSearchParams } from 'wouter';
import { api, isForbidden } from '../../api.js';
import { Acts } from '../../parts/acts.js';
import { Copyable } from '../../parts/copy.js';
import { Failure } from '../../parts/failure.js';
import { Icon } from '../../parts/icon.js';
import { visible } from '../../parts/visible.js';
import { Table } from '../../parts/table.js';
import { Moment } from '../../parts/time.js';
import { useActs } from '../../use-acts.js';

/** What people did, of all of them or of one. */
export function WhoDidWhat() {
  const [search] = useSearchParams();
  const actor = search.get('by')?.slice(0, 200);
  return (
    <section aria-label="Who did what">
      <h2 className="acts-head">
        Who did what
        {actor === undefined ? null : (
          <Link href="/system" className="button" replace>
            <bdi>{visible(actor)}</bdi> <Icon name="close" />
            <span className="visually-hidden">, show everybody</span>
          </Link>
        )}
      </h2>
      <ActsOf key={actor} actor={actor} />
    </section>
  );
}

function ActsOf({ actor }: { actor: string | undefined }) {
  const list = useActs(['acts', actor], { actor });
  return (
    <>
      <Acts list={list} actorHref={(one) => `/system?by=${encodeURIComponent(one)}`} />
      {list.unreadable.length === 0 ? null : (
        <p className="quiet">What was done to {list.unreadable.slice(0, 10).join(', ')} cannot be read.</p>
      )}
      <p className="acts-foot">
        <Copyable text={`suzumio audit${actor === undefined ? '' : ` --actor ${actor}`}`} />
      </p>
    </>
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
            { title: 'Why', cell: ({ code }) => <code translate="no">{code}</code> },
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
