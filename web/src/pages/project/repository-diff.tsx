import { type SharedDiff, type SharedRef, SuzumioError } from '@suzumio/sdk/client';
import { useQuery } from '@tanstack/react-query';
import { Link } from 'wouter';
import { api } from '../../api.js';
import { Copyable } from '../../parts/copy.js';
import { Failure } from '../../parts/failure.js';
import { visible } from '../../parts/visible.js';
import { count, some } from '../../parts/numbers.js';
import { Ago } from '../../parts/time.js';
import { UnifiedDiff } from '../../parts/unified-diff.js';
import { repositoryPath } from '../../parts/places.js';
import { RepositoryChoice } from './repository-choice.js';
import { type Asked, shortId, shortly } from './repository-names.js';
import { useTitle } from '../../title.js';

/** Each time it is waited for. */
const mostAsked = 5;
const mostNameChars = 250;
/** As the API counts them. */
const mostCounted = 10_000;

/** A worker makes it, which takes a while; what two commits differ in stays the same. */
function useSharedDiff(project: string, { from, to, common }: Asked) {
  return useQuery({
    queryKey: ['shared-diff', project, from ?? null, to, common],
    queryFn: ({ signal }) =>
      api.getSharedDiff(
        { project, query: { ...(from === undefined ? {} : { from }), to, common: common ? 'true' : 'false' } },
        { signal },
      ),
    retry: (failures, error) =>
      error instanceof SuzumioError && error.code === 'git-diff-pending' && failures < mostAsked - 1,
    retryDelay: 500,
  });
}

/** What differs between two commits of the repository that agents share. */
export default function RepositoryDiff({
  project,
  refs,
  asked,
}: {
  project: string;
  refs: readonly SharedRef[];
  asked: Asked;
}) {
  // A branch is compared as it is now, and again once it has moved.
  const idOf = (name: string) => refs.find(({ ref }) => ref === name)?.id ?? name.slice(0, mostNameChars);
  const { from, to, common } = asked;
  const diff = useSharedDiff(project, { from: from === undefined ? undefined : idOf(from), to: idOf(to), common });
  const words = `${from === undefined ? 'nothing' : shortly(from)} → ${shortly(to)}`;
  useTitle(`${visible(words.slice(0, 100))} · Repository of ${project}`);
  return (
    <div className="repository-diff">
      <header className="repository-diff-head">
        <p>
          <Link href={repositoryPath(project)} className="turns-link">
            Repository of {project}
          </Link>
        </p>
        <RepositoryChoice key={repositoryPath(project, asked)} project={project} refs={refs} asked={asked} />
        {diff.data ? <Facts project={project} diff={diff.data} asked={asked} /> : null}
      </header>
      {diff.data ? (
        <UnifiedDiff key={diff.data.diff} text={diff.data.diff} none="They have the same files." />
      ) : diff.error && !diff.isFetching ? (
        <Failure error={diff.error} again={() => void diff.refetch()} />
      ) : (
        <p className="empty-line" role="status">
          A worker compares them in a sandbox. That takes some seconds, and a minute at the most.
        </p>
      )}
    </div>
  );
}

function Facts({ project, diff, asked }: { project: string; diff: SharedDiff; asked: Asked }) {
  const { commits, ahead, behind, files, base, head } = diff;
  const counted = (number: number) =>
    number < mostCounted ? some(number, 'commit') : `${count(number)} commits or more`;
  return (
    <>
      <p className="about-facts">
        <code translate="no" title={base ?? undefined}>
          {base === null ? 'nothing' : shortId(base)}
        </code>{' '}
        →{' '}
        <code translate="no" title={head}>
          {shortId(head)}
        </code>
        : {counted(ahead)}
        {behind > 0 ? `, ${counted(behind)} of the other are not in it` : ''}; files{' '}
        <span className="sign-added">+{count(files.added)}</span> ~{count(files.changed)}{' '}
        <span className="sign-removed">−{count(files.removed)}</span>
      </p>
      {commits.length === 0 ? null : (
        <ol className="lines" aria-label="Commits">
          {commits.map(({ id, at, author, subject }) => (
            <li key={id}>
              <p className="line">
                <code translate="no" title={id}>
                  {shortId(id)}
                </code>
                <span className="line-text">
                  <bdi>{visible(subject)}</bdi>{' '}
                  <span className="quiet">
                    by <bdi>{visible(author)}</bdi>
                  </span>
                </span>
                <span className="line-age">{at === null ? null : <Ago at={at} />}</span>
              </p>
            </li>
          ))}
        </ol>
      )}
      {ahead > commits.length ? <p className="quiet">and {count(ahead - commits.length)} more</p> : null}
      {asked.from === undefined ? null : (
        <p>
          <Copyable
            text={`suzumio git diff ${project} ${shortly(asked.from)} ${shortly(asked.to)}${asked.common ? ' --common' : ''}`}
          />
        </p>
      )}
    </>
  );
}
