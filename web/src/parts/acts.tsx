import type { Act } from '@suzumio/sdk/client';
import { Link } from 'wouter';
import type { PlacedAct, useActs } from '../use-acts.js';
import { verbOf } from './act-verbs.js';
import { Failure } from './failure.js';
import { News, Older } from './growing.js';
import { visible } from './visible.js';
import { Table } from './table.js';
import { Moment } from './time.js';

const mostValueChars = 120;
/** So many fields of a file are named that was changed. */
const mostFields = 5;

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
            </>
          ),
        },
        ...(ofOne ? [] : [{ title: 'Project', cell: (act: Act) => <ProjectOf act={act} /> }]),
        {
          title: 'With',
          className: 'wide',
          classOf: () => 'clip quiet',
          cell: ({ type, data }) => <bdi>{type === 'config.changed' ? fieldsOf(data) : withWhat(data)}</bdi>,
        },
      ]}
    />
  );
}

function ProjectOf({ act: { project, type } }: { act: Act }) {
  if (project === null) return null;
  const name = <bdi>{project}</bdi>;
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

/** The fields of a file that were changed. */
function fieldsOf({ changed }: Act['data']): string {
  const fields = Array.isArray(changed) ? changed.map(String) : [];
  const more = fields.length - mostFields;
  return visible(fields.slice(0, mostFields).join(', ')) + (more > 0 ? ` and ${more} more` : '');
}

function withWhat(data: Act['data']): string {
  return Object.entries(data)
    .filter(([, value]) => value !== null && value !== false && !(Array.isArray(value) && value.length === 0))
    .map(([name, value]) => `${name} ${wordsOf(value)}`)
    .map((text) => visible(text.slice(0, mostValueChars)))
    .join(', ');
}

function wordsOf(value: unknown): string {
  if (typeof value === 'string') return value;
  if (Array.isArray(value) && value.every((one) => typeof one === 'string')) return value.join(', ');
  return JSON.stringify(value);
}
