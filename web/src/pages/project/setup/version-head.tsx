import { Link } from 'wouter';
import { ActButton } from '../../../acts/run/bar.js';
import { openDialog } from '../../../acts/run/dialogs.js';
import type { Run } from '../../../acts/run/use-run.js';
import { useMay } from '../../../acts/use-act.js';
import { useMayMake } from '../../../acts/use-may-make.js';
import { Copyable } from '../../../parts/copy.js';
import { Moment } from '../../../parts/time.js';
import { visible } from '../../../parts/visible.js';
import { RevertDialog } from './revert-dialog.js';
import type { Version } from './use-versions.js';

/** So many versions can be chosen to compare with; any other is named in the address. */
const mostChoices = 500;

/** Which version is shown, whose it is, what it is compared with, and what can be done with it. */
export function VersionHead({
  project,
  newest,
  version: { version, at, by, reverts },
  compared,
  run,
  choose,
}: {
  project: string;
  newest: number;
  version: Version;
  compared: number | undefined;
  run: Run;
  choose: (changes: Readonly<Record<string, string>>, replace?: boolean) => void;
}) {
  const may = useMay();
  const mayMake = useMayMake();
  const mayApply = may('applyConfig');
  const isNewest = version === newest;
  const others = Array.from({ length: Math.min(newest, mostChoices) }, (_none, index) => newest - index).filter(
    (other) => other !== version,
  );
  return (
    <header className="setup-head">
      <p>
        <b>Version {version}</b>
        {isNewest ? ', in force since ' : ', from '}
        <Moment at={at} />, by <bdi>{visible(by)}</bdi>
        {reverts === null ? '. ' : `. It brings back version ${reverts}. `}
        <span className="quiet">Values of variables and headers are hidden, since keys may stand in them.</span>
      </p>
      <div className="setup-acts">
        {others.length === 0 ? null : (
          <label className="field">
            Compare with{' '}
            <select
              value={compared ?? ''}
              onChange={({ target }) => choose({ v: String(version), with: target.value, show: '' })}
            >
              <option value="">none</option>
              {compared === undefined || others.includes(compared) ? null : (
                <option value={compared}>version {compared}</option>
              )}
              {others.map((other) => (
                <option key={other} value={other}>
                  version {other}
                  {other === newest ? ' (in force)' : other === version - 1 ? ' (the one before)' : ''}
                </option>
              ))}
            </select>
          </label>
        )}
        {version > 1 ? (
          <button
            type="button"
            className="button"
            aria-pressed={compared === version - 1}
            onClick={() =>
              choose({ v: String(version), with: compared === version - 1 ? '' : String(version - 1), show: '' }, false)
            }
          >
            What it changed
          </button>
        ) : null}
        {mayApply && isNewest ? (
          <ActButton
            does="Change the file…"
            run={run}
            onAct={() => {
              choose({ change: 'yes', v: '', with: '' }, false);
              // The button is gone.
              requestAnimationFrame(() => document.getElementById('content')?.focus());
            }}
          />
        ) : null}
        {mayApply && !isNewest ? (
          <ActButton
            does={`Bring version ${version} back…` as const}
            run={run}
            onAct={() => openDialog(<RevertDialog project={project} version={version} />)}
          />
        ) : null}
        {mayMake && isNewest ? (
          <Link href={`/new?of=${encodeURIComponent(project)}`} className="button">
            New project from this file
          </Link>
        ) : null}
      </div>
      {mayApply ? null : (
        <div className="setup-commands">
          <p className="quiet">
            {isNewest ? 'A token of the scope write changes it:' : 'A token of the scope write brings it back:'}
          </p>
          {isNewest ? (
            <>
              <Copyable text={`suzumio config diff ${project} FILE`} />
              <Copyable text={`suzumio config apply ${project} FILE`} />
            </>
          ) : (
            <Copyable text={`suzumio config revert ${project} ${version}`} />
          )}
        </div>
      )}
    </header>
  );
}
