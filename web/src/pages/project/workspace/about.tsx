import type { WorkspaceChange } from '@suzumio/sdk/client';
import type { ReactNode } from 'react';
import { Link } from 'wouter';
import { Failure } from '../../../parts/failure.js';
import { count } from '../../../parts/numbers.js';
import { turnPath, workspacePath } from '../../../parts/places.js';
import { Ago } from '../../../parts/time.js';
import { visible } from '../../../parts/visible.js';
import { type Place, useChanges } from './use-workspace.js';

/** What is at a path, and the turns that have changed it. */
export function About({
  title,
  place,
  facts,
  foot,
  children,
}: {
  title: string;
  place: Place;
  facts?: string;
  foot?: ReactNode;
  children?: ReactNode;
}) {
  const changes = useChanges(place, place.path);
  const items = changes.data?.items ?? [];
  return (
    <article className="about">
      <h2 className="about-title">
        <bdi>{visible(title)}</bdi>
      </h2>
      {facts === undefined ? null : <p className="about-facts">{facts}</p>}
      {children}
      <section aria-label="History">
        {children === undefined ? null : <h3>Changed by</h3>}
        {changes.error ? <Failure error={changes.error} again={() => void changes.refetch()} /> : null}
        {changes.data && items.length === 0 ? (
          <p className="quiet">
            {changes.data.previous === undefined
              ? 'No turn has changed it.'
              : 'None of the newest turns has changed it.'}
          </p>
        ) : null}
        <ol className="lines">
          {items.map((change) => (
            <li key={change.seq}>
              <Change place={place} change={change} />
            </li>
          ))}
        </ol>
      </section>
      {foot}
    </article>
  );
}

function Change({ place, change }: { place: Place; change: WorkspaceChange }) {
  const { turnNumber, restoredTurn, actor, files, createdAt } = change;
  const { project, agent, path } = place;
  return (
    <p className="line workspace-change">
      {restoredTurn === null ? (
        <Link href={turnPath(project, agent, turnNumber)}>
          <b>Turn {turnNumber}</b>
        </Link>
      ) : (
        <span>
          <b>Restored</b> by <bdi>{actor ?? 'somebody'}</bdi>
        </span>
      )}
      <span className="line-text">
        {files === null ? (
          <span className="quiet">not counted</span>
        ) : (
          <>
            <span className="sign-added">+{count(files.added)}</span> ~{count(files.changed)}{' '}
            <span className="sign-removed">−{count(files.removed)}</span>
          </>
        )}{' '}
        {restoredTurn === null ? (
          <Link href={workspacePath(place.project, place.agent, { path, turn: turnNumber })}>as it left it</Link>
        ) : null}
      </span>
      <span className="line-age">
        <Ago at={createdAt} />
      </span>
    </p>
  );
}
