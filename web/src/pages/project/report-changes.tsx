import type { ReactNode } from 'react';
import { Failure } from '../../parts/failure.js';
import { WordDiff } from '../../parts/word-diff.js';
import { useReport } from '../../use-report.js';

/** What a version of a report has otherwise than another one, word by word. */
export function ReportChanges({
  project,
  from,
  to,
  children,
}: {
  project: string;
  from: number;
  to: number;
  /** What is known of the version that it is compared with. */
  children?: ReactNode;
}) {
  const [before, after] = [useReport(project, from), useReport(project, to)];
  const error = before.error ?? after.error;
  return (
    <section className="report-changes" aria-label={`What changed from version ${from} to ${to}`}>
      <h2>
        From version {from} to {to}
      </h2>
      {children}
      {error ? <Failure error={error} again={() => void before.refetch()} /> : null}
      {before.data === undefined || after.data === undefined ? null : (
        <WordDiff before={before.data} after={after.data} />
      )}
    </section>
  );
}
