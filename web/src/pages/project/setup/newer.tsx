import { Ago } from '../../../parts/time.js';
import { Failure } from '../../../parts/failure.js';
import { visible } from '../../../parts/visible.js';
import { Changes } from './changes.js';
import { useComparison, useVersion } from './use-versions.js';

/** Another version came into force than what is written was begun from: what it changed, before both are compared. */
export function Newer({
  project,
  base,
  inForce,
  compare,
}: {
  project: string;
  base: number;
  inForce: number;
  compare: () => void;
}) {
  const version = useVersion(project, inForce);
  const since = useComparison(project, inForce, base < inForce ? base : 0);
  return (
    <section className="newer" aria-label="Another version is in force">
      <div role="alert">
        <h2>Version {inForce} is in force by now</h2>
        <p>
          {version.data === undefined ? null : (
            <>
              <bdi>{visible(version.data.by)}</bdi> applied it <Ago at={version.data.at} inWords />.{' '}
            </>
          )}
          You began with version {base}. What you have written is kept; what the other has changed is not in it.
        </p>
      </div>
      {since.error ? <Failure error={since.error} again={() => void since.refetch()} /> : null}
      {since.data === undefined ? null : since.data.changes.length === 0 ? (
        <p className="quiet">It changed no field.</p>
      ) : (
        <Changes label="What the other has changed" changes={since.data.changes} />
      )}
      <p className="quiet">Write into your file what is to stay of it. Compared, it shows what it would take back.</p>
      <button type="button" className="button button-filled" onClick={compare}>
        Compare with version {inForce}
      </button>
    </section>
  );
}
