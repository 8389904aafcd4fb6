import type { Agent, Turn, ProjectDetail } from '@suzumio/sdk/client';
import { type ChangeEvent } from 'react';
import { Link, useSearchParams } from 'wouter';
import { useListKeys } from '../../../acts/keys.js';
import { api, keys } from '../../../api.js';
import { AgentOptions } from '../../../parts/agent-options.js';
import { Failure } from '../../../parts/failure.js';
import { News } from '../../../parts/growing.js';
import { Icon } from '../../../parts/icon.js';
import { Mark } from '../../../parts/mark.js';
import { oneLine, visible } from '../../../parts/visible.js';
import { count, dollars, some, span } from '../../../parts/numbers.js';
import { stateOfTurn } from '../../../parts/states.js';
import { Ago, Moment, useNow } from '../../../parts/time.js';
import { called } from '../../../parts/places.js';
import { useGrowing } from '../../../parts/use-growing.js';
import { Lanes } from '../lanes.js';
import { useTitle } from '../../../title.js';

const partTurns = 50;
const statuses = ['queued', 'running', 'completed', 'failed', 'cancelled'] as const;
type Status = (typeof statuses)[number];
const statusWords: Readonly<Record<Status, string>> = {
  queued: 'Queued',
  running: 'Running',
  completed: 'Done',
  failed: 'Failed',
  cancelled: 'Cancelled',
};

interface TurnsQuery {
  agent: string | undefined;
  status: Status | undefined;
  before: number | undefined;
  askedOn: string | undefined;
  model: string | undefined;
}

/** A project's turns: in time, and as a list in parts, the newest first. */
export function Turns({ detail }: { detail: ProjectDetail }) {
  const { project, agents } = detail;
  const [search, setSearch] = useSearchParams();
  const agent = agents.find(({ id }) => id === search.get('agent'))?.id;
  const status = statuses.find((one) => one === search.get('status'));
  const written = search.get('before');
  const before = written !== null && /^\d{1,15}$/.test(written) ? Number(written) : undefined;
  const on = search.get('on') ?? undefined;
  const askedOn = on !== undefined && /^\d{4}-\d\d-\d\d$/.test(on) ? on : undefined;
  const model = search.get('model')?.slice(0, 200);
  const query: TurnsQuery = { agent, status, before, askedOn, model };
  useTitle(`Turns of ${project.id}`);
  useListKeys({ rows: '.turns-link', filter: '.turns-filters select' });
  const choose =
    (name: string) =>
    ({ target }: ChangeEvent<HTMLSelectElement>) =>
      setSearch(
        (old) => {
          const next = new URLSearchParams(old);
          next.delete('before');
          if (target.value === '') next.delete(name);
          else next.set(name, target.value);
          return next;
        },
        { replace: true },
      );
  const filters = { agent, status, on: askedOn, model };
  const isFiltered = Object.values(filters).some((value) => value !== undefined);
  return (
    <div className="turns">
      <Lanes detail={detail} />
      <section aria-label="All turns">
        <header className="pane-head turns-head">
          <h2>All turns</h2>
          <div className="turns-filters">
            {askedOn === undefined ? null : (
              <Link href={hrefOf(project.id, { ...filters, on: undefined })} className="button" replace>
                Asked models on {askedOn} UTC <Icon name="close" />
                <span className="visually-hidden">, leave this out</span>
              </Link>
            )}
            {model === undefined ? null : (
              <Link href={hrefOf(project.id, { ...filters, model: undefined })} className="button" replace>
                <bdi>{visible(model)}</bdi> <Icon name="close" />
                <span className="visually-hidden">, leave this out</span>
              </Link>
            )}
            <label>
              <span className="visually-hidden">Agent</span>
              <select className="input" value={agent ?? ''} onChange={choose('agent')}>
                <option value="">Every agent</option>
                <AgentOptions agents={agents} />
              </select>
            </label>
            <label>
              <span className="visually-hidden">State</span>
              <select className="input" value={status ?? ''} onChange={choose('status')}>
                <option value="">Every state</option>
                {statuses.map((one) => (
                  <option key={one} value={one}>
                    {statusWords[one]}
                  </option>
                ))}
              </select>
            </label>
          </div>
        </header>
        <Part
          key={JSON.stringify(query)}
          detail={detail}
          query={query}
          none={
            isFiltered
              ? 'No turn is so.'
              : before === undefined
                ? 'No turns yet. Mail is what wakes an agent.'
                : 'There are no earlier turns.'
          }
          hrefBefore={(place) => hrefOf(project.id, { ...filters, before: place })}
        />
      </section>
    </div>
  );
}

interface PartProps {
  detail: ProjectDetail;
  query: TurnsQuery;
  /** What is said where no turn is in it. */
  none: string;
  hrefBefore: (place: string | undefined) => string;
}

/** One part of the list: the newest, in which turns appear as they are begun, or those before a place. */
function Part({ detail: { project, agents }, query, none, hrefBefore }: PartProps) {
  const list = useGrowing<Turn>(
    [...keys.project(project.id), 'turns', query],
    () =>
      api.listTurns({
        project: project.id,
        query: { ...given(query), limit: partTurns, order: 'desc', include: ['wokenBy', 'asked'] },
      }),
    { most: partTurns },
  );
  return (
    <>
      {list.error && !list.isRead ? <Failure error={list.error} again={list.again} /> : null}
      {list.isRead && list.rows.length === 0 && list.previous === undefined ? (
        <p className="empty-line">{none}</p>
      ) : null}
      <News of={list} />
      {list.rows.length === 0 ? null : <Table items={list.rows} project={project.id} agents={agents} />}
      <nav className="turns-further" aria-label="Parts of the list">
        {query.before === undefined ? null : (
          <Link href={hrefBefore(undefined)} className="button">
            Newest turns
          </Link>
        )}
        {list.previous === undefined ? null : (
          <Link href={hrefBefore(String(list.previous))} className="button">
            Earlier turns
          </Link>
        )}
      </nav>
    </>
  );
}

function hrefOf(project: string, filters: Record<string, string | undefined>): string {
  const query = new URLSearchParams(given(filters)).toString();
  return `/p/${project}/turns${query === '' ? '' : `?${query}`}`;
}

/** Without what is not given. */
function given<Fields extends object>(fields: Fields) {
  return Object.fromEntries(Object.entries(fields).filter(([, value]) => value !== undefined)) as {
    [Name in keyof Fields]: Exclude<Fields[Name], undefined>;
  };
}

function Table({ items, project, agents }: { items: readonly Turn[]; project: string; agents: readonly Agent[] }) {
  return (
    <div className="table-scroll">
      <table className="table turns-table">
        <thead>
          <tr>
            <th scope="col">Turn</th>
            <th scope="col">State</th>
            <th scope="col" className="turns-aside">
              Woken by
            </th>
            <th scope="col" className="number">
              Took
            </th>
            <th scope="col" className="number turns-aside">
              Attempts
            </th>
            <th scope="col" className="number turns-aside">
              Tokens
            </th>
            <th scope="col" className="number turns-aside">
              Cost
            </th>
            <th scope="col" className="turns-end">
              What came of it
            </th>
            <th scope="col" className="number turns-aside">
              Queued
            </th>
          </tr>
        </thead>
        <tbody>
          {items.map((turn) => (
            <Row key={turn.id} turn={turn} project={project} agents={agents} />
          ))}
        </tbody>
      </table>
    </div>
  );
}

function Row({ turn, project, agents }: { turn: Turn; project: string; agents: readonly Agent[] }) {
  const { mark, word } = stateOfTurn(turn);
  const { wokenBy, asked } = turn;
  const tokens = (asked?.inputTokens ?? 0) + (asked?.outputTokens ?? 0);
  return (
    <tr>
      <th scope="row">
        <Link href={`/p/${project}/turns/${turn.agent}:${turn.number}`} className="turns-link">
          <bdi>{visible(called(turn.agent, agents))}</bdi>, turn {turn.number}
        </Link>
      </th>
      <td>
        <span className={`state state-${mark}`}>
          <Mark kind={mark} /> {word}
        </span>
      </td>
      <td className="turns-aside">
        {wokenBy == null ? null : (
          <>
            <bdi>{visible(called(wokenBy.sender, agents))}</bdi>
            {wokenBy.messages > 1 ? <span className="quiet"> and {wokenBy.messages - 1} more</span> : null}
          </>
        )}
      </td>
      <td className="number">
        <Took turn={turn} />
      </td>
      <td className="number turns-aside">{turn.attempt}</td>
      <td className="number turns-aside">{tokens > 0 ? count(tokens) : ''}</td>
      <td className="number turns-aside">{asked && asked.costUsd > 0 ? dollars(asked.costUsd) : ''}</td>
      <td className="turns-end">
        <span className="clip">{endOf(turn)}</span>
      </td>
      <td className="number turns-aside">
        <Ago at={turn.queuedAt} />
      </td>
    </tr>
  );
}

function Took({ turn: { status, startedAt, endedAt } }: { turn: Turn }) {
  const now = useNow(status === 'running' ? 1_000 : 60_000);
  if (startedAt === null) return null;
  return span(Math.max(0, (endedAt === null ? now : Date.parse(endedAt)) - Date.parse(startedAt)));
}

/** What it ended with, or why it failed. */
function endOf({ status, failure, text, endedByTool, notBefore, toolCalls }: Turn) {
  if (failure !== null && (status === 'failed' || status === 'queued')) {
    return (
      <>
        <bdi>{oneLine(failure.message)}</bdi>{' '}
        {status === 'queued' && notBefore !== null ? (
          <span className="quiet">
            again at <Moment at={notBefore} />
          </span>
        ) : null}
      </>
    );
  }
  if (text !== null && text.trim() !== '') return <bdi>{oneLine(text)}</bdi>;
  if (endedByTool !== null) return <span className="quiet">ended with {endedByTool}</span>;
  return toolCalls > 0 ? <span className="quiet">{some(toolCalls, 'tool call')}</span> : null;
}
