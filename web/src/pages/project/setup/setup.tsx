import type { ProjectDetail } from '@suzumio/sdk/client';
import { useSearchParams } from 'wouter';
import { useListKeys } from '../../../acts/keys.js';
import { Outcome } from '../../../acts/run/bar.js';
import { late } from '../../../acts/run/late.js';
import { useMay } from '../../../acts/use-act.js';
import { type Run, useRun } from '../../../acts/run/use-run.js';
import { Failure } from '../../../parts/failure.js';
import { useNarrow } from '../../../parts/use-narrow.js';
import { useTitle } from '../../../title.js';
import { Changes } from './changes.js';
import { Given, Resolved } from './panes.js';
import { useComparison, useVersion, useVersions } from './use-versions.js';
import { VersionHead } from './version-head.js';
import { VersionList } from './version-list.js';

const ChangeFile = late(() => import('./change-file.js'));

const views = [
  ['file', 'As it was given'],
  ['resolved', 'As it was resolved'],
  ['versions', 'Versions'],
] as const;
type View = (typeof views)[number][0];

/**
 * The versions of the project's file: one as it was given and with everything resolved, two compared, a new one written.
 * Values of variables and headers are shown to nobody.
 */
export function Setup({ detail: { project } }: { detail: ProjectDetail }) {
  useTitle(`Setup · ${project.id}`);
  const may = useMay();
  const isNarrow = useNarrow();
  const [search, setSearch] = useSearchParams();
  const versions = useVersions(project.id);
  const run = useRun(project.id);
  useListKeys({ rows: '.setup-version' });
  const newest = versions.data?.pages[0]?.items[0]?.version;
  const shown = numberIn(search, 'v') ?? newest;
  const compared = numberIn(search, 'with');
  const view = views.find(([name]) => name === search.get('show'))?.[0] ?? 'file';
  const choose = (changes: Readonly<Record<string, string>>, replace = true) =>
    setSearch((old) => changed(old, changes), { replace });
  if (newest === undefined || shown === undefined) {
    return versions.error ? <Failure error={versions.error} again={() => void versions.refetch()} /> : null;
  }
  const list = <VersionList project={project.id} versions={versions} shown={shown} />;
  if (search.has('change') && may('applyConfig')) {
    return (
      <ChangeFile
        key={project.id}
        project={project.id}
        newest={newest}
        run={run}
        onLeave={() => {
          choose({ change: '', v: '', with: '' });
          // What had the focus is gone.
          requestAnimationFrame(() => document.getElementById('content')?.focus());
        }}
      />
    );
  }
  return (
    <div className="page setup">
      {isNarrow ? (
        <div className="switch" role="group" aria-label="Which of them">
          {views.map(([name, words]) => (
            <button
              key={name}
              type="button"
              aria-pressed={name === view}
              onClick={() => choose({ show: name === 'file' ? '' : name, with: '' })}
            >
              {words}
            </button>
          ))}
        </div>
      ) : null}
      <Outcome run={{ ...run, error: null }} />
      <div className="setup-layout">
        {isNarrow && view !== 'versions' ? null : list}
        {isNarrow && view === 'versions' ? null : (
          <Shown
            key={shown}
            project={project.id}
            newest={newest}
            version={shown}
            compared={compared}
            run={run}
            view={isNarrow ? view : undefined}
            choose={choose}
          />
        )}
      </div>
    </div>
  );
}

function Shown({
  project,
  newest,
  version,
  compared,
  run,
  view,
  choose,
}: {
  project: string;
  newest: number;
  version: number;
  compared: number | undefined;
  run: Run;
  /** The one pane that there is room for. */
  view: View | undefined;
  choose: (changes: Readonly<Record<string, string>>, replace?: boolean) => void;
}) {
  const read = useVersion(project, version);
  return (
    <div className="setup-shown">
      {read.error && read.data === undefined ? (
        <Failure error={read.error} again={() => void read.refetch()} />
      ) : read.data === undefined ? null : (
        <>
          <VersionHead
            project={project}
            newest={newest}
            version={read.data}
            compared={compared}
            run={run}
            choose={choose}
          />
          {compared === undefined ? (
            <div className="setup-panes">
              {view === 'resolved' ? null : <Given version={read.data} />}
              {view === 'file' ? null : <Resolved version={read.data} />}
            </div>
          ) : (
            <Compared project={project} version={version} from={compared} />
          )}
        </>
      )}
    </div>
  );
}

function Compared({ project, version, from }: { project: string; version: number; from: number }) {
  const compared = useComparison(project, version, from);
  const words = `From version ${from} to version ${version}`;
  return (
    <section className="setup-compared" aria-label={words}>
      <h2>{words}</h2>
      {compared.error ? <Failure error={compared.error} again={() => void compared.refetch()} /> : null}
      {compared.data === undefined ? null : compared.data.changes.length === 0 ? (
        <p className="quiet">Both say the same.</p>
      ) : (
        <Changes label={words} changes={compared.data.changes} />
      )}
    </section>
  );
}

function numberIn(search: URLSearchParams, name: string): number | undefined {
  const text = search.get(name) ?? '';
  return /^[1-9]\d{0,8}$/.test(text) ? Number(text) : undefined;
}

/** An address with other fields; those that are empty are not in it. */
function changed(old: URLSearchParams, changes: Readonly<Record<string, string>>): URLSearchParams {
  const next = new URLSearchParams(old);
  for (const [name, value] of Object.entries(changes)) {
    if (value === '') next.delete(name);
    else next.set(name, value);
  }
  return next;
}
