import type { Act } from '@suzumio/sdk/client';
import { Link } from 'wouter';
import type { PlacedAct, useActs } from '../use-acts.js';
import { verbOf, wordsOf } from './act-words.js';
import { Failure } from './failure.js';
import { News, Older } from './growing.js';
import { visible } from './visible.js';
import { Table } from './table.js';
import { Moment } from './time.js';
import { useNarrow } from './use-narrow.js';

/**
 * What people did, a row each, the newest first, with what is new above it and the way to what is older below.
 *
 * @param ofOne whether all of it was done to one project
 */
export function Acts({
  list,
  ...look
}: {
  list: ReturnType<typeof useActs>;
  actorHref: (actor: string) => string;
  ofOne?: boolean;
}) {
  return (
    <>
      <News of={list} />
      {list.error ? <Failure error={list.error} again={list.again} /> : null}
      {list.isRead && list.rows.length === 0 ? <p className="quiet">Nobody did anything yet.</p> : null}
      {list.rows.length === 0 ? null : <ActsTable acts={list.rows} {...look} />}
      <Older of={list} />
    </>
  );
}

function ActsTable({
  acts,
  actorHref,
  ofOne = false,
}: {
  acts: readonly PlacedAct[];
  actorHref: (actor: string) => string;
  ofOne?: boolean;
}) {
  const isNarrow = useNarrow();
  return (
    <Table
      rows={acts}
      keyOf={({ id }) => id}
      columns={[
        { title: 'When', cell: ({ at }) => <Moment at={at} /> },
        {
          title: 'Who',
          names: true,
          cell: ({ actor }) => (
            <Link href={actorHref(actor)} className="evidence">
              <bdi>{visible(actor)}</bdi>
            </Link>
          ),
        },
        {
          title: 'Did what',
          cell: (act) => (
            <>
              {verbOf(act)} {act.type === 'config.changed' ? <NewVersion act={act} /> : null}
              {act.subject === null ? null : (
                <b>
                  <bdi>{visible(act.subject)}</bdi>
                </b>
              )}
              {isNarrow ? (
                <span className="acts-with quiet">
                  <bdi>{wordsOf(act.type, act.data)}</bdi>
                </span>
              ) : null}
            </>
          ),
        },
        ...(ofOne ? [] : [{ title: 'Project', cell: (act: Act) => <ProjectOf act={act} /> }]),
        ...(isNarrow
          ? []
          : [
              {
                title: 'With',
                className: 'wide' as const,
                classOf: () => 'clip quiet',
                cell: ({ type, data }: Act) => <bdi>{wordsOf(type, data)}</bdi>,
              },
            ]),
      ]}
    />
  );
}

function ProjectOf({ act: { project, type } }: { act: Act }) {
  if (project === null) return null;
  const name = <bdi translate="no">{project}</bdi>;
  if (type === 'project.deleted') return name;
  return (
    <Link href={`/p/${project}/log?what=acts`} className="evidence">
      {name}
    </Link>
  );
}

/** Which version a file got, which leads to what it changed. */
function NewVersion({ act: { project, data } }: { act: Act }) {
  const version = Number(data['version']);
  const { reverts } = data;
  return (
    <>
      to{' '}
      <Link href={`/p/${project}/setup?v=${version}&with=${version - 1}`} className="evidence">
        version {version}
      </Link>
      {typeof reverts === 'number' ? `, which brings back ${reverts}` : ''}
    </>
  );
}
