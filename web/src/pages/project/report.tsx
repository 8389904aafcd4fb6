import type { Agent, ProjectDetail, Report as Submitted } from '@suzumio/sdk/client';
import { useState } from 'react';
import { late } from '../../acts/run/late.js';
import { Link, useSearchParams } from 'wouter';
import { Failure } from '../../parts/failure.js';
import { Markdown } from '../../parts/markdown.js';
import { Moment } from '../../parts/time.js';
import { visible } from '../../parts/visible.js';
import { called, turnPath } from '../../parts/places.js';
import { ReportChanges } from './report-changes.js';
import { useReport, useReports } from '../../use-report.js';

const Decide = late(() => import('../decide/decide.js'));

/** The report, a version of it and what it has otherwise than another one, and what can be decided on it. */
export function Report({ detail: { project, agents } }: { detail: ProjectDetail }) {
  const newest = project.reportVersion;
  if (newest === null) return <p className="empty-line">No report is submitted yet.</p>;
  const isWaiting = project.status === 'submitted';
  return <Versions key={project.id} project={project.id} newest={newest} isWaiting={isWaiting} agents={agents} />;
}

function Versions({
  project,
  newest,
  isWaiting,
  agents,
}: {
  project: string;
  newest: number;
  /** Whether the newest one waits for a decision. */
  isWaiting: boolean;
  agents: readonly Agent[];
}) {
  const [search, setSearch] = useSearchParams();
  // A version that comes while another one is read does not take its place.
  const [opened] = useState(newest);
  const known = (name: string) => {
    const version = Number(search.get(name) ?? '');
    return Number.isInteger(version) && version >= 1 && version <= newest ? version : undefined;
  };
  const shown = known('v') ?? opened;
  // A version that waits is compared with the one before, unless another comparison is chosen.
  const isOpened = isWaiting && shown === newest && newest > 1 && search.get('with') === null;
  const beside = isOpened ? newest - 1 : known('with');
  const choose = (name: 'v' | 'with', version: string) => {
    const next = new URLSearchParams(search);
    if (version === '' && name === 'v') next.delete(name);
    else next.set(name, version === '' ? 'none' : version);
    setSearch(next, { replace: true });
  };
  const isNone = search.get('with') === 'none';
  const unknown = ['v', 'with']
    .map((name) => known(name) === undefined && !(name === 'with' && isNone) && search.get(name))
    .find(Boolean);
  const reports = useReports(project).data ?? [];
  const about = (version: number) => reports.find((report) => report.version === version);
  const isRead = useReport(project, shown).data !== undefined;
  const versions = Array.from({ length: newest }, (_none, index) => newest - index);
  return (
    <div className="report-page">
      {unknown ? (
        <p className="empty-line" role="status">
          There is no version <bdi>{visible(unknown.slice(0, 80))}</bdi>.{' '}
          <Link href={`/p/${project}/report`} className="evidence">
            The newest version
          </Link>
        </p>
      ) : null}
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
            compared with{' '}
            <select value={beside ?? ''} onChange={({ target }) => choose('with', target.value)}>
              <option value="">nothing</option>
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
        {beside === undefined || beside === shown ? null : (
          <ReportChanges project={project} from={beside} to={shown}>
            <AboutVersion project={project} version={beside} submitted={about(beside)} agents={agents} />
          </ReportChanges>
        )}
        <Version project={project} version={shown} submitted={about(shown)} agents={agents} />
      </div>
      {isRead ? (
        <div className="report-foot">
          <Decide project={project} version={shown} key={shown} />
        </div>
      ) : null}
    </div>
  );
}

interface VersionProps {
  readonly project: string;
  readonly version: number;
  /** Unknown until it is read. */
  readonly submitted: Submitted | undefined;
  readonly agents: readonly Agent[];
}

function Version({ project, version, submitted, agents }: VersionProps) {
  const report = useReport(project, version);
  if (report.error) return <Failure error={report.error} again={() => void report.refetch()} />;
  return (
    <article className="report report-paper">
      <AboutVersion project={project} version={version} submitted={submitted} agents={agents} />
      {report.data === undefined ? null : <Markdown text={report.data} />}
    </article>
  );
}

function AboutVersion({ project, version, submitted, agents }: VersionProps) {
  return (
    <p className="quiet report-about">
      Version {version}
      {submitted === undefined ? null : <About project={project} submitted={submitted} agents={agents} />}
    </p>
  );
}

/** Who submitted a version, and what was decided on it. */
function About({ project, submitted, agents }: { project: string; submitted: Submitted; agents: readonly Agent[] }) {
  const { agent: id, turnNumber, createdAt, decision } = submitted;
  return (
    <>
      {', by '}
      <bdi>{called(id, agents)}</bdi> in{' '}
      <Link href={turnPath(project, id, turnNumber)} className="evidence">
        turn {turnNumber}
      </Link>
      , <Moment at={createdAt} />
      {decision === null ? null : (
        <>
          {decision.kind === 'approved' ? '. Approved by ' : '. Sent back by '}
          <bdi>{decision.by}</bdi>, <Moment at={decision.at} />
        </>
      )}
    </>
  );
}
