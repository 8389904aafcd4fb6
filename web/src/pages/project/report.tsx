import type { ProjectDetail } from '@suzumio/sdk/client';
import { useState } from 'react';
import { late } from '../../acts/run/late.js';
import { useSearchParams } from 'wouter';
import { Failure } from '../../parts/failure.js';
import { Markdown } from '../../parts/markdown.js';
import { useReport } from './use-report.js';

const Decide = late(() => import('../decide/decide.js'));

/** The report, one version or two side by side, and what can be decided on it. */
export function Report({ detail: { project } }: { detail: ProjectDetail }) {
  const newest = project.reportVersion;
  if (newest === null) return <p className="empty-line">No report is submitted yet.</p>;
  return <Versions key={project.id} project={project.id} newest={newest} />;
}

function Versions({ project, newest }: { project: string; newest: number }) {
  const [search, setSearch] = useSearchParams();
  // A version that comes while another one is read does not take its place.
  const [opened] = useState(newest);
  const known = (name: string) => {
    const version = Number(search.get(name) ?? '');
    return Number.isInteger(version) && version >= 1 && version <= newest ? version : undefined;
  };
  const shown = known('v') ?? opened;
  const beside = known('with');
  const choose = (name: 'v' | 'with', version: string) => {
    const next = new URLSearchParams(search);
    if (version === '') next.delete(name);
    else next.set(name, version);
    setSearch(next, { replace: true });
  };
  const isRead = useReport(project, shown).data !== undefined;
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
        <button type="button" className="button report-print" onClick={() => window.print()}>
          Print
        </button>
      </div>
      <div className={beside === undefined ? 'report-versions' : 'report-versions report-two'}>
        {beside === undefined ? null : <Version project={project} version={beside} named />}
        <Version project={project} version={shown} named={beside !== undefined} />
      </div>
      {isRead ? (
        <div className="report-foot">
          <Decide project={project} version={shown} key={shown} />
        </div>
      ) : null}
    </div>
  );
}

function Version({ project, version, named }: { project: string; version: number; named: boolean }) {
  const report = useReport(project, version);
  if (report.error) return <Failure error={report.error} again={() => void report.refetch()} />;
  return (
    <article className="report report-paper">
      {named ? <p className="quiet">Version {version}</p> : null}
      {report.data === undefined ? null : <Markdown text={report.data} />}
    </article>
  );
}
