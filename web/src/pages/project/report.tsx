import type { ProjectDetail } from '@suzumio/sdk/client';
import { useQuery } from '@tanstack/react-query';
import { useSearchParams } from 'wouter';
import { api, keys } from '../../api.js';
import { Copyable } from '../../parts/copy.js';
import { Failure } from '../../parts/failure.js';
import { Markdown } from '../../parts/markdown.js';

/** The report, one version or two side by side. */
export function Report({ detail: { project } }: { detail: ProjectDetail }) {
  const [search, setSearch] = useSearchParams();
  const newest = project.reportVersion;
  if (newest === null) return <p className="empty-line">No report is submitted yet.</p>;
  const known = (name: string) => {
    const version = Number(search.get(name) ?? '');
    return Number.isInteger(version) && version >= 1 && version <= newest ? version : undefined;
  };
  const shown = known('v') ?? newest;
  const beside = known('with');
  const choose = (name: 'v' | 'with', version: string) => {
    const next = new URLSearchParams(search);
    if (version === '') next.delete(name);
    else next.set(name, version);
    setSearch(next, { replace: true });
  };
  const versions = Array.from({ length: newest }, (_none, index) => newest - index);
  return (
    <div className="report-page">
      <div className="report-head">
        <label className="field">
          Version{' '}
          <select value={shown} onChange={({ target }) => choose('v', target.value)}>
            {versions.map((version) => (
              <option key={version} value={version}>
                {version}
                {version === newest ? ' (newest)' : ''}
              </option>
            ))}
          </select>
        </label>
        {newest > 1 ? (
          <label className="field">
            beside{' '}
            <select value={beside ?? ''} onChange={({ target }) => choose('with', target.value)}>
              <option value="">none</option>
              {versions
                .filter((version) => version !== shown)
                .map((version) => (
                  <option key={version} value={version}>
                    {version}
                  </option>
                ))}
            </select>
          </label>
        ) : null}
        {project.status === 'submitted' ? <Copyable text={`suzumio approve ${project.id}`} /> : null}
        <button type="button" className="button report-print" onClick={() => window.print()}>
          Print
        </button>
      </div>
      <div className={beside === undefined ? 'report-versions' : 'report-versions report-two'}>
        {beside === undefined ? null : <Version project={project.id} version={beside} named />}
        <Version project={project.id} version={shown} named={beside !== undefined} />
      </div>
    </div>
  );
}

function Version({ project, version, named }: { project: string; version: number; named: boolean }) {
  const report = useQuery({
    queryKey: [...keys.project(project), 'report', version],
    queryFn: () => api.getReport({ project, query: { version } }),
  });
  if (report.error) return <Failure error={report.error} again={() => void report.refetch()} />;
  return (
    <article className="report report-paper">
      {named ? <p className="quiet">Version {version}</p> : null}
      {report.data === undefined ? null : <Markdown text={report.data} />}
    </article>
  );
}
