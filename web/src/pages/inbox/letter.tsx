import { SuzumioError } from '@suzumio/sdk/client';
import { useMutation, useQuery } from '@tanstack/react-query';
import type { ReactNode } from 'react';
import { Link } from 'wouter';
import { Key } from '../../acts/keys.js';
import { api, keys, wordsOf } from '../../api.js';
import { Failure } from '../../parts/failure.js';
import { mailPath } from '../../parts/places.js';
import { markDone } from '../../use-inbox.js';
import { useProject } from '../../use-project.js';
import { ThreadPane } from '../project/mail/thread.js';

/** A thread of the inbox, which is read, answered and done with here. */
export function InboxLetter({
  project,
  message,
  until,
  notice,
  none,
}: {
  project: string;
  message: string;
  /** When the newest of it came; undefined where all of it is done. */
  until: string | undefined;
  /** What stands above it. */
  notice: ReactNode;
  /** What is shown where it is missing. */
  none: ReactNode;
}) {
  const detail = useProject(project);
  const letter = useQuery({
    queryKey: [...keys.project(project), 'message', message],
    queryFn: () => api.getMessage({ project, message }),
  });
  const thread = letter.data?.threadId;
  const done = useMutation({
    mutationFn: () =>
      until === undefined || thread === undefined ? Promise.resolve() : markDone(until, { project, thread }),
  });
  const error = detail.error ?? letter.error;
  if (error instanceof SuzumioError && error.status === 404) return none;
  return (
    <article className="about about-thread">
      {notice}
      <div className="about-top">
        <p className="crumbs">
          <Link href={`/p/${project}`}>
            <bdi translate="no">{project}</bdi>
          </Link>
        </p>
        {until === undefined ? null : (
          <button type="button" className="button" disabled={done.isPending} onClick={() => done.mutate()}>
            {done.isPending ? 'Marking …' : 'Done'}
          </button>
        )}
        <Link href={mailPath(project, message)} className="button">
          Open the thread <Key name="look" />
        </Link>
      </div>
      {done.error ? (
        <p className="composer-wrongs" role="alert">
          {wordsOf(done.error)}
        </p>
      ) : null}
      {error ? <Failure error={error} again={() => void letter.refetch()} /> : null}
      {detail.data === undefined || letter.data === undefined ? null : (
        <ThreadPane key={letter.data.threadId} detail={detail.data} chosen={letter.data} onSent={() => done.mutate()} />
      )}
    </article>
  );
}
