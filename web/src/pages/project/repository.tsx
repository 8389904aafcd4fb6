import type { ProjectDetail, SharedPush, SharedRef } from '@suzumio/sdk/client';
import { useQuery } from '@tanstack/react-query';
import { useEffect } from 'react';
import { Link } from 'wouter';
import { api, keys, publicPath } from '../../api.js';
import { Copyable } from '../../parts/copy.js';
import { Failure } from '../../parts/failure.js';
import { visible } from '../../parts/markdown.js';
import { bytes, count, some } from '../../parts/numbers.js';
import { Ago } from '../../parts/time.js';
import { called, turnPath } from './places.js';

const mostPushes = 100;
const mostRefs = 500;

/** The branches and tags of the repository that a project's agents share. */
export function useSharedRefs(project: string) {
  return useQuery({
    queryKey: [...keys.project(project), 'refs'],
    queryFn: async () => (await api.listSharedRefs({ project })).items,
  });
}

/** That repository: where its branches are, and who has pushed what. */
export function Repository({ detail }: { detail: ProjectDetail }) {
  const { id } = detail.project;
  const refs = useSharedRefs(id);
  const pushes = useQuery({
    queryKey: [...keys.project(id), 'pushes'],
    queryFn: () => api.listSharedPushes({ project: id, query: { limit: mostPushes, order: 'desc' } }),
  });
  useEffect(() => {
    document.title = `Repository of ${id} · Suzumio`;
  }, [id]);
  const error = refs.error ?? pushes.error;
  if (refs.data === undefined || pushes.data === undefined) {
    return error ? <Failure error={error} again={() => void refs.refetch().then(() => pushes.refetch())} /> : null;
  }
  if (pushes.data.items.length === 0) {
    return (
      <p className="empty-line">
        Nothing has been pushed. Agents share a repository where the project file says git: shared.
      </p>
    );
  }
  return (
    <div className="page repository">
      <div className="about-acts">
        <a className="button" href={`${publicPath}/api/projects/${id}/git/bundle`} download={`${id}.bundle`}>
          Download all
        </a>
        <span className="quiet">then</span> <Copyable text={`git clone ${id}.bundle`} />
      </div>
      <section aria-label="Branches and tags">
        <h2>Branches and tags</h2>
        <ol className="lines">
          {refs.data.slice(0, mostRefs).map((ref) => (
            <li key={ref.ref}>
              <Ref shared={ref} detail={detail} />
            </li>
          ))}
        </ol>
        {refs.data.length > mostRefs ? <p className="quiet">and {count(refs.data.length - mostRefs)} more</p> : null}
      </section>
      <section aria-label="Pushes">
        <h2>Pushes</h2>
        <ol className="lines">
          {pushes.data.items.map((push) => (
            <li key={push.seq}>
              <Push push={push} detail={detail} />
            </li>
          ))}
        </ol>
        {pushes.data.previous === undefined ? null : <p className="quiet">The newest {mostPushes} are shown.</p>}
      </section>
    </div>
  );
}

const shortName = (ref: string) => ref.replace(/^refs\/(?:heads|tags)\//, '');
const shortId = (id: string) => id.slice(0, 10);

function Ref({ shared: { ref, id, agent, pushedAt }, detail }: { shared: SharedRef; detail: ProjectDetail }) {
  return (
    <p className="line">
      <b>
        <bdi>{visible(shortName(ref))}</bdi>
      </b>
      <span className="line-text">
        {ref.startsWith('refs/tags/') ? 'tag, ' : ''}
        <code title={id}>{shortId(id)}</code> by <bdi>{called(agent, detail.agents)}</bdi>
      </span>
      <span className="line-age">
        <Ago at={pushedAt} />
      </span>
    </p>
  );
}

function Push({ push, detail }: { push: SharedPush; detail: ProjectDetail }) {
  const { agent, turnNumber, updates, pack, createdAt } = push;
  return (
    <p className="line workspace-change">
      <Link href={turnPath(detail.project.id, agent, turnNumber)}>
        <b>
          <bdi>{called(agent, detail.agents)}</bdi>, turn {turnNumber}
        </b>
      </Link>
      <span className="line-text">
        {updates.slice(0, 20).map(({ ref, from, to }) => (
          <span key={ref} className="push-update">
            <bdi>{visible(shortName(ref))}</bdi>{' '}
            <code>
              {from === null ? 'new' : shortId(from)} → {to === null ? 'deleted' : shortId(to)}
            </code>{' '}
          </span>
        ))}
        {updates.length > 20 ? `and ${String(updates.length - 20)} more ` : null}
        <span className="quiet">
          {pack === null ? 'nothing new' : `${some(pack.objects, 'object')}, ${bytes(pack.sizeBytes)}`}
        </span>
      </span>
      <span className="line-age">
        <Ago at={createdAt} />
      </span>
    </p>
  );
}
