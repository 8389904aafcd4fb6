import { type ProjectDetail, SuzumioError } from '@suzumio/sdk/client';
import type { ReactNode } from 'react';
import { Link, useSearchParams } from 'wouter';
import { publicPath, wordsOf } from '../../../api.js';
import { Copyable } from '../../../parts/copy.js';
import { Failure } from '../../../parts/failure.js';
import { visible } from '../../../parts/visible.js';
import { bytes } from '../../../parts/numbers.js';
import { workspacePath } from '../../../parts/places.js';
import { Preview } from '../../../parts/preview.js';
import { UnifiedDiff } from '../../../parts/unified-diff.js';
import { About } from './about.js';
import { Choices } from './choices.js';
import { CloneLine } from './clone-line.js';
import { Directory } from './directory.js';
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
  const isNowhere = isCoded(found.error, 'workspace-path-unknown');
  if (found.error && !isNowhere) {
    return (
      <>
        <Choices detail={detail} place={place} from={from} changes={changes.data?.items ?? []} />
        {isCoded(found.error, 'turn-unknown') ? (
          <Nowhere words={wordsOf(found.error)} href={workspacePath(project, agent, { path: place.path })}>
            The files as they are now
          </Nowhere>
        ) : (
          <Failure error={found.error} again={() => void found.refetch()} />
        )}
      </>
    );
  }
  return (
    <>
      <Choices detail={detail} place={place} from={from} changes={changes.data?.items ?? []} />
      <CloneLine place={place} />
      <div className={file !== undefined || isComparing || isNowhere ? 'panes panes-open' : 'panes'}>
        <Directory place={isNowhere ? { ...place, path: '' } : place} from={from} isFile={file !== undefined} />
        <section className="panes-item" aria-label={file === undefined ? 'Changes' : 'File'}>
          {isNowhere ? (
            <Nowhere words={wordsOf(found.error)} href={workspacePath(project, agent, { turn: place.turn, from })}>
              {`All files of ${agent}`}
            </Nowhere>
          ) : null}
          {isComparing ? (
            <Difference place={place} from={from} until={until} />
          ) : file?.kind === 'file' ? (
            <File key={file.sha256} place={place} file={file} />
          ) : file?.kind === 'link' ? (
            <About title={place.path} place={place}>
              <p>
                A link to <code translate="no">{visible(file.target.slice(0, 1_000))}</code>. It is never followed.
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

/** That what an address names is not there, with the way on. */
function Nowhere({ words, href, children }: { words: string; href: string; children: ReactNode }) {
  return (
    <p className="empty-line" role="status">
      {visible(words)}{' '}
      <Link href={href} className="evidence">
        {children}
      </Link>
    </p>
  );
}

function isCoded(error: Error | null, code: string): boolean {
  return error instanceof SuzumioError && error.code === code;
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
