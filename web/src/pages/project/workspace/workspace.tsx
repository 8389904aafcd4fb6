import type { ProjectDetail, WorkspaceChange, WorkspaceEntry } from '@suzumio/sdk/client';
import { type ReactNode } from 'react';
import { Link, useLocation, useSearchParams } from 'wouter';
import { RestoreAct } from '../../../acts/run/restore-dialog.js';
import { publicPath } from '../../../api.js';
import { Copyable } from '../../../parts/copy.js';
import { Failure } from '../../../parts/failure.js';
import { Icon } from '../../../parts/icon.js';
import { visible } from '../../../parts/visible.js';
import { bytes, count } from '../../../parts/numbers.js';
import { Preview } from '../../../parts/preview.js';
import { nameOf } from '../../../parts/states.js';
import { Ago } from '../../../parts/time.js';
import { UnifiedDiff } from '../../../parts/unified-diff.js';
import { turnPath, workspacePath } from '../../../parts/places.js';
import { useSharedRefs } from '../repository.js';
import { CloneLine } from './clone-line.js';
import { type Place, useChanges, useDifference, useEntries, useFile, type WorkspaceFile } from './use-workspace.js';
import { useTitle } from '../../../title.js';

/** An agent's files as they are or were, where they came from, and what differs between two of its turns. */
export default function Workspace({ detail, agent: named }: { detail: ProjectDetail; agent: string | undefined }) {
  const { project, agents } = detail;
  const agent = named ?? agents[0]?.id ?? '';
  useTitle(`Files of ${agent} · ${project.id}`);
  if (!agents.some(({ id }) => id === agent)) {
    return (
      <div className="empty">
        <h2>
          There is no agent <bdi>{visible(agent.slice(0, 100))}</bdi>
        </h2>
        <Link href={`/p/${project.id}/agents`} className="button">
          All agents
        </Link>
      </div>
    );
  }
  return <OfAgent detail={detail} agent={agent} />;
}

function OfAgent({ detail, agent }: { detail: ProjectDetail; agent: string }) {
  const project = detail.project.id;
  const [search] = useSearchParams();
  const number = (name: string) => {
    const text = search.get(name);
    return text !== null && /^\d{1,9}$/.test(text) ? Number(text) : undefined;
  };
  const place: Place = { project, agent, path: search.get('path') ?? '', turn: number('turn') };
  const from = number('from');
  const found = useEntries(place);
  const changes = useChanges(place, '');
  const file = found.data?.directory === false ? found.data.items[0] : undefined;
  const newest = changes.data?.items[0]?.turnNumber;
  const until = place.turn ?? newest;
  const isComparing = from !== undefined && until !== undefined;
  if (found.error) {
    return (
      <>
        <Choices detail={detail} place={place} from={from} changes={changes.data?.items ?? []} />
        <Failure error={found.error} again={() => void found.refetch()} />
      </>
    );
  }
  return (
    <>
      <Choices detail={detail} place={place} from={from} changes={changes.data?.items ?? []} />
      <CloneLine place={place} />
      <div className={file !== undefined || isComparing ? 'panes panes-open' : 'panes'}>
        <Directory place={place} from={from} isFile={file !== undefined} />
        <section className="panes-item" aria-label={file === undefined ? 'Changes' : 'File'}>
          {isComparing ? (
            <Difference place={place} from={from} until={until} />
          ) : file?.kind === 'file' ? (
            <File key={file.sha256} place={place} file={file} />
          ) : file?.kind === 'link' ? (
            <About title={place.path} place={place}>
              <p>
                A link to <code>{visible(file.target.slice(0, 1_000))}</code>. It is never followed.
              </p>
            </About>
          ) : (
            <About title={place.path === '' ? 'Changes' : place.path} place={place} />
          )}
        </section>
      </div>
    </>
  );
}

/** Whose files, as they were when, and compared with when; and where in them this is. */
function Choices({
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
            {agents.slice(0, 500).map((one) => (
              <option key={one.id} value={one.id}>
                {visible(nameOf(one))}
              </option>
            ))}
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

/** What is in the directory, or in the one that the file is in. */
function Directory({ place, from, isFile }: { place: Place; from: number | undefined; isFile: boolean }) {
  const directory = isFile ? place.path.split('/').slice(0, -1).join('/') : place.path;
  const found = useEntries({ ...place, path: directory });
  const { turn } = place;
  const entries = found.data?.directory === true ? found.data.items : [];
  const rank = ({ kind }: WorkspaceEntry) => (kind === 'directory' ? 0 : 1);
  const pathOf = (name: string) => (directory === '' ? name : `${directory}/${name}`);
  return (
    <ul className="panes-list" aria-label="Files">
      {[...entries]
        .sort((a, b) => rank(a) - rank(b))
        .map((entry) => (
          <li key={entry.name}>
            <Link
              href={workspacePath(place.project, place.agent, { path: pathOf(entry.name), turn, from })}
              className="panes-row workspace-row"
              aria-current={pathOf(entry.name) === place.path ? 'true' : undefined}
            >
              <Icon name={entry.kind === 'directory' ? 'folder' : 'file'} />
              <span className="clip">
                <bdi>{visible(entry.name)}</bdi>
                {entry.kind === 'link' ? (
                  <span className="quiet">
                    {' '}
                    to <bdi>{visible(entry.target.slice(0, 200))}</bdi>
                  </span>
                ) : null}
              </span>
              <span className="inbox-age">
                {entry.kind === 'file' ? `${bytes(entry.sizeBytes)}${entry.executable ? ', runs' : ''}` : null}
              </span>
            </Link>
          </li>
        ))}
      {found.data && entries.length === 0 ? <li className="empty-line">Nothing is in it.</li> : null}
      {found.data?.next === undefined ? null : (
        <li className="empty-line">The first {count(entries.length)} by name are shown.</li>
      )}
    </ul>
  );
}

function File({ place, file }: { place: Place; file: WorkspaceFile }) {
  const content = useFile(place, file);
  const { project, agent, path, turn } = place;
  const query = new URLSearchParams({ path, ...(turn === undefined ? {} : { turn: String(turn) }) });
  const address = `${publicPath}/api/projects/${project}/agents/${agent}/workspace/content?${query.toString()}`;
  return (
    <About
      title={path}
      place={place}
      facts={`${bytes(file.sizeBytes)}${file.executable ? ', may be run' : ''}`}
      foot={
        <footer className="about-foot">
          <span className="quiet">SHA-256</span> <Copyable text={file.sha256} />
        </footer>
      }
    >
      <div className="about-acts">
        <a className="button" href={address} download>
          Download
        </a>
      </div>
      {content.error ? <Failure error={content.error} again={() => void content.refetch()} /> : null}
      {content.data ? (
        <Preview file={{ name: path, sizeBytes: file.sizeBytes, content: content.data, download: address }} />
      ) : null}
    </About>
  );
}

function Difference({ place, from, until }: { place: Place; from: number; until: number }) {
  const text = useDifference(place, from, until);
  const when = (turn: number) => (turn === 0 ? 'before the first turn' : `after turn ${turn}`);
  return (
    <article className="about">
      <h2 className="about-title">
        <bdi>{place.path === '' ? 'All files' : visible(place.path)}</bdi>
      </h2>
      <p className="about-facts">
        What differs between {when(from)} and {when(until)}
      </p>
      {text.error ? <Failure error={text.error} again={() => void text.refetch()} /> : null}
      {text.data === undefined ? null : <UnifiedDiff key={text.data} text={text.data} none="Nothing differs." />}
    </article>
  );
}

/** What is at a path, and the turns that have changed it. */
function About({
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
