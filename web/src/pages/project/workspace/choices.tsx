import type { ProjectDetail, WorkspaceChange } from '@suzumio/sdk/client';
import { Link, useLocation } from 'wouter';
import { RestoreAct } from '../../../acts/run/restore-dialog.js';
import { workspacePath } from '../../../parts/places.js';
import { AgentOptions } from '../../../parts/agent-options.js';
import { visible } from '../../../parts/visible.js';
import { useSharedRefs } from '../repository.js';
import type { Place } from './use-workspace.js';

/** Whose files, as they were when, and compared with when; and where in them this is. */
export function Choices({
  detail: { project, agents },
  place,
  from,
  changes,
}: {
  detail: ProjectDetail;
  place: Place;
  from: number | undefined;
  changes: readonly WorkspaceChange[];
}) {
  const [, navigate] = useLocation();
  const refs = useSharedRefs(project.id);
  const { agent, path, turn } = place;
  const numbers = [
    ...new Set([...changes.map(({ turnNumber }) => turnNumber), ...[turn, from].flatMap((n) => n ?? []), 0]),
  ]
    .sort((a, b) => b - a)
    .map((value) => ({ value, name: value === 0 ? 'the first turn' : `turn ${value}` }));
  const chosen = (value: string) => (value === '' ? undefined : Number(value));
  return (
    <header className="pane-head workspace-head">
      <nav className="workspace-path" aria-label="Where">
        <Link href={workspacePath(place.project, place.agent, { turn, from })}>
          <bdi>{agent}</bdi>
        </Link>
        {partsOf(path).map(({ name, path: to }) => (
          <span key={to}>
            {' / '}
            <Link
              href={workspacePath(place.project, place.agent, { path: to, turn, from })}
              aria-current={to === path ? 'page' : undefined}
            >
              <bdi>{visible(name)}</bdi>
            </Link>
          </span>
        ))}
      </nav>
      <div className="turns-filters">
        <RestoreAct project={project} agent={agents.find(({ id }) => id === agent)} turn={turn} newest={changes[0]} />
        {refs.data === undefined || refs.data.length === 0 ? null : (
          <Link href={`/p/${project.id}/repository`} className="button">
            Shared repository
          </Link>
        )}
        <label>
          <span className="visually-hidden">Agent</span>
          <select
            className="input"
            value={agent}
            onChange={({ target }) => navigate(workspacePath(project.id, target.value))}
          >
            <AgentOptions agents={agents} />
          </select>
        </label>
        <label>
          <span className="visually-hidden">When</span>
          <select
            className="input"
            value={turn ?? ''}
            onChange={({ target }) =>
              navigate(workspacePath(place.project, place.agent, { path, turn: chosen(target.value), from }))
            }
          >
            <option value="">as they are now</option>
            {numbers.map(({ value, name }) => (
              <option key={value} value={value}>
                {value === 0 ? 'before' : 'after'} {name}
              </option>
            ))}
          </select>
        </label>
        <label>
          <span className="visually-hidden">Compare with</span>
          <select
            className="input"
            value={from ?? ''}
            onChange={({ target }) =>
              navigate(workspacePath(place.project, place.agent, { path, turn, from: chosen(target.value) }))
            }
          >
            <option value="">not compared</option>
            {numbers.map(({ value, name }) => (
              <option key={value} value={value}>
                compared with {value === 0 ? 'before' : 'after'} {name}
              </option>
            ))}
          </select>
        </label>
      </div>
    </header>
  );
}

function partsOf(path: string): { name: string; path: string }[] {
  const names = path.split('/').filter((name) => name !== '');
  return names.map((name, index) => ({ name, path: names.slice(0, index + 1).join('/') }));
}
