import type { ProjectDetail, Task } from '@suzumio/sdk/client';
import { useInfiniteQuery } from '@tanstack/react-query';
import { Link, useSearchParams } from 'wouter';
import { api, keys } from '../../api.js';
import { Copyable } from '../../parts/copy.js';
import { Failure } from '../../parts/failure.js';
import { Mark } from '../../parts/mark.js';
import type { MarkKind } from '../../parts/mark-kind.js';
import { visible } from '../../parts/visible.js';
import { nameOf } from '../../parts/states.js';
import { Ago } from '../../parts/time.js';
import { Priority } from './mail/letter.js';
import { agentPath, called, mailPath } from '../../parts/places.js';

const columns = [
  ['open', 'Open', 'quiet'],
  ['accepted', 'Accepted', 'running'],
  ['done', 'Done', 'done'],
  ['declined', 'Declined', 'stopped'],
] as const satisfies readonly (readonly [Task['state'], string, MarkKind])[];

/** Work that was assigned, by how it stands. */
export function Tasks({ detail }: { detail: ProjectDetail }) {
  const { project, agents } = detail;
  const [params, setParams] = useSearchParams();
  const who = agents.find(({ id }) => id === params.get('who'))?.id;
  return (
    <div className="tasks">
      <header className="pane-head">
        <h2>Tasks</h2>
        <select
          className={who === undefined ? 'choice' : 'choice choice-made'}
          aria-label="Whose"
          value={who ?? ''}
          onChange={({ currentTarget }) => setParams(currentTarget.value === '' ? {} : { who: currentTarget.value })}
        >
          <option value="">Whose: all</option>
          {agents.map((agent) => (
            <option key={agent.id} value={agent.id}>
              Whose: {nameOf(agent)}
            </option>
          ))}
        </select>
      </header>
      <div className="board">
        {columns.map(([state, title, mark]) => (
          <Column key={state} detail={detail} state={state} title={title} mark={mark} who={who} />
        ))}
      </div>
      <p className="board-act">
        <span className="quiet">To assign work to a role:</span>{' '}
        <Copyable text={`suzumio assign ${project.id} ${quoted(agents[0]?.role ?? 'ROLE')} "…"`} />
      </p>
    </div>
  );
}

/** A role as an argument of the command. */
function quoted(role: string): string {
  return /^[\w-]+$/.test(role) ? role : `'${role.replaceAll("'", `'\\''`)}'`;
}

interface ColumnProps {
  detail: ProjectDetail;
  state: Task['state'];
  title: string;
  mark: MarkKind;
  who: string | undefined;
}

const partOf = 50;

function Column({ detail: { project, agents }, state, title, mark, who }: ColumnProps) {
  const tasks = useInfiniteQuery({
    queryKey: [...keys.project(project.id), 'tasks', state, who],
    initialPageParam: undefined as number | undefined,
    queryFn: ({ pageParam: before }) =>
      api.listTasks({
        project: project.id,
        query: {
          limit: partOf,
          order: 'desc',
          state,
          ...(who === undefined ? {} : { assignee: who }),
          ...(before === undefined ? {} : { before }),
        },
      }),
    getNextPageParam: ({ previous }) => previous,
  });
  const items = tasks.data?.pages.flatMap((part) => part.items) ?? [];
  const id = `tasks-${state}`;
  return (
    <section className="board-column" aria-labelledby={id}>
      <h3 id={id}>
        <Mark kind={mark} /> {title}{' '}
        <span className="tab-count">
          {tasks.data === undefined ? '' : `${items.length}${tasks.hasNextPage ? '+' : ''}`}
        </span>
      </h3>
      {tasks.error ? <Failure error={tasks.error} again={() => void tasks.refetch()} /> : null}
      <ol>
        {items.map((task) => (
          <li key={task.id} className="card">
            <Link href={mailPath(project.id, task.seq)} className="card-text">
              <bdi>{visible(task.excerpt)}</bdi>
            </Link>
            <p className="card-facts">
              <Priority of={task.priority} />
              <span>
                <Link href={agentPath(project.id, task.assignee)} className="linked">
                  <bdi>{called(task.assignee, agents)}</bdi>
                </Link>{' '}
                for <bdi>{task.assigner === 'user' ? 'you' : called(task.assigner, agents)}</bdi>
              </span>
              <span className="card-age">
                <Ago at={task.stateAt} />
              </span>
            </p>
            {task.stateMessage === null ? null : (
              <Link href={mailPath(project.id, task.stateMessage)} className="linked quiet">
                The reply
              </Link>
            )}
          </li>
        ))}
      </ol>
      {tasks.data && items.length === 0 ? <p className="quiet board-none">None</p> : null}
      {tasks.hasNextPage ? (
        <button
          type="button"
          className="button"
          disabled={tasks.isFetchingNextPage}
          onClick={() => void tasks.fetchNextPage()}
        >
          Older
        </button>
      ) : null}
    </section>
  );
}
