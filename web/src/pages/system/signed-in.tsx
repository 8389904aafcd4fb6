import { useQuery } from '@tanstack/react-query';
import { api } from '../../api.js';
import { Copyable } from '../../parts/copy.js';
import { Table } from '../../parts/table.js';
import { Ago } from '../../parts/time.js';

/** The browsers that are signed in. */
export function SignedIn() {
  const sessions = useQuery({ queryKey: ['sessions'], queryFn: () => api.listSessions(), staleTime: 10_000 });
  const items = sessions.data?.items ?? [];
  if (items.length === 0) return null;
  return (
    <section aria-label="Signed in">
      <h2>Signed in</h2>
      <Table
        rows={items}
        keyOf={({ id }) => id}
        columns={[
          {
            title: 'As',
            names: true,
            cell: ({ token, current }) => (
              <>
                <bdi>{token}</bdi>
                {current ? <span className="quiet"> (here)</span> : null}
              </>
            ),
          },
          { title: 'From', cell: ({ address }) => address },
          {
            title: 'Last used',
            cell: ({ seenAt }) => (
              <>
                <Ago at={seenAt} /> ago
              </>
            ),
          },
          { title: 'Browser', className: 'wide', classOf: () => 'clip', cell: ({ agent }) => <bdi>{agent}</bdi> },
          { title: 'Sign out', cell: ({ id }) => <Copyable text={`suzumio sessions end ${id}`} /> },
        ]}
      />
    </section>
  );
}
