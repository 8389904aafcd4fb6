import { type Artifact, type ProjectDetail, SuzumioError } from '@suzumio/sdk/client';
import { useQuery } from '@tanstack/react-query';
import { Link, useParams, useSearchParams } from 'wouter';
import { useListKeys } from '../../../acts/keys.js';
import { FileActs } from '../../../acts/run/late.js';
import { api, keys, publicPath } from '../../../api.js';
import { Copyable } from '../../../parts/copy.js';
import { DiffRows } from '../../../parts/diff-rows.js';
import { Failure } from '../../../parts/failure.js';
import { Growing } from '../../../parts/growing.js';
import { Icon } from '../../../parts/icon.js';
import { visible } from '../../../parts/visible.js';
import { bytes, some } from '../../../parts/numbers.js';
import { mostTextBytes, Preview, textOf } from '../../../parts/preview.js';
import { filePath } from '../../../parts/places.js';
import { nameOf } from '../../../parts/states.js';
import { Ago } from '../../../parts/time.js';
import { type Published, useContent, useFiles, useVersions, type Versions } from '../../../use-files.js';

/** What a row is likely to be high. */
const rowPx = 53;

/** What was published: names at the left, one version of one at the right. */
export function Files({ detail }: { detail: ProjectDetail }) {
  const { project } = detail;
  const { id } = useParams<{ id?: string }>();
  const list = useFiles(project.id);
  const opened = useVersions(project.id, id);
  useListKeys({ rows: '.panes-row' });
  return (
    <div className={id === undefined ? 'panes' : 'panes panes-open'}>
      <section className="panes-list" aria-label="Names">
        {list.rows.length === 0 ? null : (
          <p className="files-all">
            <span className="quiet">
              {list.hasOlder || list.isFull ? `the newest ${list.rows.length} names` : some(list.rows.length, 'name')}
            </span>
            <a className="button" href={`${publicPath}/api/projects/${project.id}/artifacts-archive`} download>
              Download all
            </a>
          </p>
        )}
        <Growing
          list={list}
          none={
            <p className="empty-line">Nothing is published yet. Agents publish what they made by artifacts.publish.</p>
          }
          heightPx={rowPx}
          render={(file) => (
            <Row project={project.id} file={file} isChosen={file.id === opened.data?.version.name} detail={detail} />
          )}
        />
      </section>
      <section className="panes-item" aria-label="File">
        {opened.data ? (
          <File key={opened.data.version.id} detail={detail} opened={opened.data} />
        ) : opened.error ? (
          <NoFile project={project.id} error={opened.error} again={() => void opened.refetch()} />
        ) : id === undefined && list.rows.length > 0 ? (
          <p className="empty-line">Choose a file to see what is in it.</p>
        ) : null}
      </section>
    </div>
  );
}

function NoFile({ project, error, again }: { project: string; error: Error; again: () => void }) {
  if (!(error instanceof SuzumioError && error.code === 'artifact-unknown')) {
    return <Failure error={error} again={again} />;
  }
  return (
    <p className="empty-line">
      There is no such file.{' '}
      <Link href={`/p/${project}/files`} className="evidence">
        All files
      </Link>
    </p>
  );
}

function Row({
  project,
  file,
  isChosen,
  detail,
}: {
  project: string;
  file: Published;
  isChosen: boolean;
  detail: ProjectDetail;
}) {
  const { newest, versions } = file;
  return (
    <Link href={`/p/${project}/files/${newest.id}`} className="panes-row" aria-current={isChosen ? 'true' : undefined}>
      <Icon name={newest.kind === 'directory' ? 'folder' : 'file'} />
      <span className="panes-words">
        <b className="clip">
          <bdi>{visible(newest.name)}</bdi>
        </b>
        <span className="quiet">
          {newest.kind === 'directory' ? some(newest.files, 'file') : bytes(newest.sizeBytes)}
          {versions > 1 ? `, ${some(versions, 'version')}` : ''}, by <bdi>{creatorOf(newest, detail)}</bdi>
        </span>
      </span>
      <span className="inbox-age">
        <Ago at={newest.createdAt} />
      </span>
    </Link>
  );
}

/** Where the API has an artifact, or a file in it: to download, or to show in a frame. */
function addressOf(project: string, { id }: Artifact, what: 'content' | 'view', path?: string): string {
  const query = path === undefined ? '' : `?${new URLSearchParams({ path }).toString()}`;
  return `${publicPath}/api/projects/${project}/artifacts/${id}/${what}${query}`;
}

function creatorOf({ creator }: Artifact, { agents }: ProjectDetail): string {
  if (creator === 'user') return 'you';
  const agent = agents.find(({ id }) => id === creator);
  return agent ? nameOf(agent) : creator;
}

function File({ detail, opened }: { detail: ProjectDetail; opened: Versions }) {
  const { version, versions, count } = opened;
  const project = detail.project.id;
  const [search, setSearch] = useSearchParams();
  const other = versions.find(({ id }) => id === search.get('with'));
  const placeOf = ({ id }: Artifact) => versions.findIndex((one) => one.id === id);
  const numberOf = (one: Artifact) => count - placeOf(one);
  return (
    <article className="about">
      <h2 className="about-title">
        <bdi>{visible(version.name)}</bdi>
      </h2>
      <p className="about-facts">
        {placeOf(version) < 0
          ? `one of the oldest ${count - versions.length} of ${count} versions`
          : `version ${numberOf(version)} of ${count}`}
        , {bytes(version.sizeBytes)}, by <bdi>{creatorOf(version, detail)}</bdi>, <Ago at={version.createdAt} inWords />
        {version.base === null ? null : (
          <>
            , against the commit{' '}
            <code translate="no" title={version.base}>
              {version.base.slice(0, 12)}
            </code>
          </>
        )}
        {version.description === null ? null : (
          <>
            : <bdi>{visible(version.description)}</bdi>
          </>
        )}
      </p>
      <div className="about-acts">
        <a className="button" href={addressOf(project, version, 'content')} download>
          Download
        </a>
        <FileActs project={project} version={version} />
        {count > 1 ? (
          <label className="field">
            Compare with{' '}
            <select
              value={other?.id ?? ''}
              onChange={({ target }) => setSearch(target.value === '' ? {} : { with: target.value }, { replace: true })}
            >
              <option value="">nothing</option>
              {versions
                .filter((one) => one.id !== version.id)
                .map((one) => (
                  <option key={one.id} value={one.id}>
                    version {numberOf(one)}
                  </option>
                ))}
            </select>
          </label>
        ) : null}
        <nav className="versions" aria-label="Versions">
          {count > 1
            ? versions.slice(0, 30).map((one) => (
                <Link
                  key={one.id}
                  href={`/p/${project}/files/${one.id}`}
                  className="version"
                  aria-current={one.id === version.id ? 'true' : undefined}
                >
                  {numberOf(one)}
                </Link>
              ))
            : null}
        </nav>
      </div>
      {search.get('with') && !other ? (
        <p className="empty-line" role="status">
          There is no version <bdi>{visible(search.get('with')?.slice(0, 80) ?? '')}</bdi> of it that could be compared.{' '}
          <Link href={filePath(project, version.id)} className="evidence">
            Without a comparison
          </Link>
        </p>
      ) : null}
      {version.redacted ? (
        <p className="empty-line">Its content was removed.</p>
      ) : version.kind === 'directory' ? (
        <Directory project={project} version={version} />
      ) : other ? (
        <Comparison project={project} version={version} other={other} />
      ) : (
        <Content project={project} version={version} />
      )}
      <footer className="about-foot">
        <span className="quiet">SHA-256</span> <Copyable text={version.sha256} />
        {version.base === null || version.redacted ? null : (
          <span className="about-command">
            <span className="quiet">In your repository:</span>{' '}
            <Copyable text={`suzumio patch apply ${project} ${version.id}`} />
          </span>
        )}
      </footer>
    </article>
  );
}

function Content({ project, version }: { project: string; version: Artifact }) {
  const content = useContent(project, version);
  if (content.error) return <Failure error={content.error} again={() => void content.refetch()} />;
  if (content.data === undefined) return null;
  const file = {
    name: version.name,
    sizeBytes: version.sizeBytes,
    content: content.data,
    download: addressOf(project, version, 'content'),
    view: addressOf(project, version, 'view'),
    isPatch: version.base !== null,
  };
  return <Preview file={file} />;
}

function Comparison({ project, version, other }: { project: string; version: Artifact; other: Artifact }) {
  const [after, before] = [useContent(project, version), useContent(project, other)];
  if (after.data === undefined || before.data === undefined) {
    const error = after.error ?? before.error;
    return error ? <Failure error={error} again={() => void after.refetch().then(() => before.refetch())} /> : null;
  }
  const [old, now] = version.seq > other.seq ? [before.data, after.data] : [after.data, before.data];
  const [oldText, newText] = [old, now].map((content) => textOf(content.subarray(0, mostTextBytes)));
  if (oldText === undefined || newText === undefined) return <p className="empty-line">They are no texts.</p>;
  return <DiffRows before={oldText} after={newText} />;
}

function Directory({ project, version }: { project: string; version: Artifact }) {
  const entries = useQuery({
    queryKey: [...keys.project(project), 'entries', version.id],
    queryFn: async () => (await api.listArtifactEntries({ project, artifact: version.id })).items,
  });
  const [search, setSearch] = useSearchParams();
  const path = search.get('path') ?? undefined;
  const files = (entries.data ?? []).flatMap((entry) => ('sizeBytes' in entry ? [entry] : []));
  const file = files.find((entry) => entry.path === path);
  const content = useContent(project, version, file?.path);
  if (entries.error) return <Failure error={entries.error} again={() => void entries.refetch()} />;
  return (
    <>
      <ul className="entries">
        {files.slice(0, 500).map((entry) => (
          <li key={entry.path}>
            <button
              type="button"
              className="entry"
              aria-pressed={entry.path === path}
              onClick={() => setSearch({ path: entry.path }, { replace: true })}
            >
              <bdi className="clip">{visible(entry.path)}</bdi> <span className="quiet">{bytes(entry.sizeBytes)}</span>
            </button>
          </li>
        ))}
      </ul>
      {path !== undefined && entries.data && !file ? (
        <p className="empty-line" role="status">
          There is no file <bdi>{visible(path.slice(0, 200))}</bdi> in it.{' '}
          <Link href={filePath(project, version.id)} className="evidence">
            All of it
          </Link>
        </p>
      ) : null}
      {file && content.error ? <Failure error={content.error} again={() => void content.refetch()} /> : null}
      {file && content.data ? (
        <Preview
          key={file.path}
          file={{
            name: file.path,
            sizeBytes: file.sizeBytes,
            content: content.data,
            download: addressOf(project, version, 'content', file.path),
            view: addressOf(project, version, 'view', file.path),
          }}
        />
      ) : null}
    </>
  );
}
