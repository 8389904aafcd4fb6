import type { ProjectDetail, SharedPush, SharedRef } from '@suzumio/sdk/client';
import { useQuery } from '@tanstack/react-query';
import { late } from '../../acts/run/late.js';
import { Link, useSearchParams } from 'wouter';
import { api, keys, publicPath } from '../../api.js';
import { Copyable } from '../../parts/copy.js';
import { Failure } from '../../parts/failure.js';
import { visible } from '../../parts/visible.js';
import { bytes, count, some } from '../../parts/numbers.js';
import { Ago } from '../../parts/time.js';
import { called, repositoryPath, turnPath } from '../../parts/places.js';
import { RepositoryChoice } from './repository-choice.js';
import { mainBranch, shortId, shortName } from './repository-names.js';
import { useTitle } from '../../title.js';

const RepositoryDiff = late(() => import('./repository-diff.js'));

const mostPushes = 100;
const mostRefs = 500;

/** The branches and tags of the repository that a project's agents share. */
export function useSharedRefs(project: string) {
  return useQuery({
    queryKey: [...keys.project(project), 'refs'],
    queryFn: async () => (await api.listSharedRefs({ project })).items,
  });
}

/** That repository: where its branches are, and who has pushed what; or what differs between two commits of it. */
export function Repository({ detail }: { detail: ProjectDetail }) {
  const { id } = detail.project;
  const refs = useSharedRefs(id);
  const [search] = useSearchParams();
  const to = search.get('to');
  if (to === null) return <Overview detail={detail} refs={refs} />;
  if (refs.data === undefined) {
    return refs.error ? <Failure error={refs.error} again={() => void refs.refetch()} /> : null;
  }
  const [from, common] = [search.get('from') ?? undefined, search.get('common') === '1'];
  return <RepositoryDiff project={id} refs={refs.data} asked={{ from, to, common }} />;
}

function Overview({ detail, refs }: { detail: ProjectDetail; refs: ReturnType<typeof useSharedRefs> }) {
  const { id } = detail.project;
  const pushes = useQuery({
    queryKey: [...keys.project(id), 'pushes'],
    queryFn: () => api.listSharedPushes({ project: id, query: { limit: mostPushes, order: 'desc' } }),
  });
  useTitle(`Repository of ${id}`);
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
      <div className="about-acts">
        <span className="quiet">In a repository of yours:</span>
        <Copyable text={`suzumio git fetch ${id}`} />
        {detail.project.status === 'completed' ? null : <Copyable text={`suzumio git push ${id}`} />}
      </div>
      <section aria-label="Branches and tags">
        <h2>Branches and tags</h2>
        <RepositoryChoice project={id} refs={refs.data} />
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
              <Push push={push} detail={detail} hasMain={refs.data.some(({ ref }) => ref === mainBranch)} />
            </li>
          ))}
        </ol>
        {pushes.data.previous === undefined ? null : <p className="quiet">The newest {mostPushes} are shown.</p>}
      </section>
    </div>
  );
}

function Ref({ shared, detail }: { shared: SharedRef; detail: ProjectDetail }) {
  const { ref, id, pushedAt } = shared;
  return (
    <p className="line">
      <b>
        <bdi>{visible(shortName(ref))}</bdi>
      </b>
      <span className="line-text">
        {ref.startsWith('refs/tags/') ? 'tag, ' : ''}
        <code translate="no" title={id}>
          {shortId(id)}
        </code>{' '}
        by <bdi>{pusherOf(shared, detail)}</bdi>
      </span>
      <span className="line-age">
        <Ago at={pushedAt} />
      </span>
    </p>
  );
}

/** What an agent is called; a person, as the timeline names them. */
function pusherOf({ agent, actor }: Pick<SharedPush, 'agent' | 'actor'>, { agents }: ProjectDetail): string {
  return agent === null ? visible(actor) : called(agent, agents);
}

function Push({ push, detail, hasMain }: { push: SharedPush; detail: ProjectDetail; hasMain: boolean }) {
  const { agent, turnNumber, updates, pack, createdAt } = push;
  const who = <bdi>{pusherOf(push, detail)}</bdi>;
  return (
    <p className="line workspace-change">
      {agent === null || turnNumber === null ? (
        <b>{who}</b>
      ) : (
        <Link href={turnPath(detail.project.id, agent, turnNumber)}>
          <b>
            {who}, turn {turnNumber}
          </b>
        </Link>
      )}
      <span className="line-text">
        {updates.slice(0, 20).map(({ ref, from, to }) => (
          <span key={ref} className="push-update">
            <bdi>{visible(shortName(ref))}</bdi>{' '}
            <Moved project={detail.project.id} update={{ ref, from, to }} hasMain={hasMain} />{' '}
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

/** Where a branch was and is since; leads to what that has changed. */
function Moved({
  project,
  update: { ref, from, to },
  hasMain,
}: {
  project: string;
  update: SharedPush['updates'][number];
  hasMain: boolean;
}) {
  const moved = (
    <code translate="no">
      {from === null ? 'new' : shortId(from)} → {to === null ? 'deleted' : shortId(to)}
    </code>
  );
  if (to === null) return moved;
  // What is new is compared with where it may have begun.
  const isBeside = from === null && hasMain && ref !== mainBranch;
  const asked = isBeside ? { from: mainBranch, to, common: true } : { from: from ?? undefined, to };
  return (
    <Link href={repositoryPath(project, asked)} title={`What has changed in ${shortName(ref)}`}>
      {moved}
    </Link>
  );
}
