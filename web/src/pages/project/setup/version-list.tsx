import { Link } from 'wouter';
import { Failure } from '../../../parts/failure.js';
import { count } from '../../../parts/numbers.js';
import { Moment } from '../../../parts/time.js';
import { visible } from '../../../parts/visible.js';
import type { useVersions, VersionRow } from './use-versions.js';

const mostNamed = 2;
const mostNameChars = 100;

/** Every version of a file: which, when, by whom, and what it changed in a few words. */
export function VersionList({
  project,
  versions,
  shown,
}: {
  project: string;
  versions: ReturnType<typeof useVersions>;
  shown: number | undefined;
}) {
  const rows = versions.data?.pages.flatMap(({ items }) => items) ?? [];
  const newest = rows[0]?.version;
  return (
    <nav className="setup-versions" aria-label="Versions">
      <h2>Versions</h2>
      <ol>
        {rows.map((row) => (
          <li key={row.version}>
            <Link
              href={`/p/${project}/setup${row.version === newest ? '' : `?v=${row.version}`}`}
              className="setup-version"
              aria-current={row.version === shown ? 'true' : undefined}
            >
              <span className="setup-version-head">
                <b>Version {row.version}</b>
                {row.version === newest ? <span className="setup-in-force">in force</span> : null}
                <span className="quiet setup-version-at">
                  <Moment at={row.at} />
                </span>
              </span>
              <span className="quiet clip">
                by <bdi>{visible(row.by)}</bdi>
              </span>
              <span className="setup-version-words">
                <bdi>{shortly(row)}</bdi>
              </span>
            </Link>
          </li>
        ))}
      </ol>
      {versions.error ? <Failure error={versions.error} again={() => void versions.refetch()} /> : null}
      {versions.hasNextPage ? (
        <button
          type="button"
          className="button"
          aria-disabled={versions.isFetchingNextPage || undefined}
          onClick={() => {
            if (!versions.isFetchingNextPage) versions.fetchNextPage().catch(() => undefined);
          }}
        >
          Earlier versions
        </button>
      ) : versions.data?.pages.at(-1)?.previous === undefined ? null : (
        <p className="quiet">The newest {rows.length} are shown: any other is named in the address.</p>
      )}
    </nav>
  );
}

/** What a version changed, in a few words. */
function shortly({ version, reverts, changes, changed }: VersionRow): string {
  if (version === 1) return 'The file that the project was made from';
  const named = changed.slice(0, mostNamed).map((name) => visible(name.slice(0, mostNameChars)));
  const more = changes > named.length ? ` and ${count(changes - named.length)} more` : '';
  const fields = changes === 0 ? 'only its text' : `${named.join(', ')}${more}`;
  return reverts === null ? fields : `Brings back version ${reverts}: ${fields}`;
}
