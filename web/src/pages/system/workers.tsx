import type { MarkKind } from '../../parts/mark-kind.js';
import { Failure } from '../../parts/failure.js';
import { Mark } from '../../parts/mark.js';
import { some } from '../../parts/numbers.js';
import { Table } from '../../parts/table.js';
import { Ago } from '../../parts/time.js';
import { useFleet } from '../../use-fleet.js';

const marks: Readonly<Record<string, MarkKind>> = {
  ready: 'done',
  draining: 'paused',
  'not-ready': 'failed',
  lost: 'failed',
};
const markOf = (state: string | null) => marks[state ?? ''] ?? 'quiet';

export function Workers({ elsewhere }: { elsewhere: number }) {
  const fleet = useFleet();
  if (fleet.error && fleet.data === undefined) {
    return <Failure error={fleet.error} again={() => void fleet.refetch()} />;
  }
  const workers = fleet.data?.items ?? [];
  return (
    <section aria-label="Workers">
      <h2>Workers</h2>
      {fleet.data && workers.length === 0 ? <p className="quiet">No worker is connected: no turn can run.</p> : null}
      {workers.length === 0 ? null : (
        <Table
          rows={workers}
          keyOf={({ worker }) => worker}
          columns={[
            { title: 'Worker', names: true, cell: ({ worker }) => <bdi>{worker}</bdi> },
            {
              title: 'State',
              classOf: ({ state }) => `state state-${markOf(state)}`,
              cell: ({ state, problem, lostSince }) => (
                <>
                  <Mark kind={markOf(state)} /> {state ?? 'unknown'}
                  {problem === null ? '' : `: ${problem}`}
                  {lostSince === null ? null : (
                    <>
                      , last heard of <Ago at={lostSince} inWords />
                    </>
                  )}
                </>
              ),
            },
            { title: 'Busy', cell: ({ busy, slots }) => <Slots busy={busy} slots={slots} /> },
            { title: 'Host', cell: ({ host }) => (host === null ? null : <bdi>{host}</bdi>) },
            { title: 'Version', cell: ({ version, commit }) => [version, commit].filter(Boolean).join(' ') },
            { title: 'Runs', className: 'wide', cell: ({ backends }) => backends?.join(', ') },
          ]}
        />
      )}
      {elsewhere > 0 ? <p className="quiet">{some(elsewhere, 'worker')} of other cells only.</p> : null}
    </section>
  );
}

/** The most slots that are drawn one by one. */
const mostDrawn = 16;

/** Busy slots of all, drawn and said. */
function Slots({ busy, slots }: { busy: number | null; slots: number }) {
  if (busy === null) return <>{some(slots, 'slot')}</>;
  const all = Math.max(busy, slots);
  return (
    <span className="slots">
      {all === 0 || all > mostDrawn ? null : (
        <span className="slots-drawn" aria-hidden>
          {Array.from({ length: all }, (_none, at) => (
            <span key={at} className={at < busy ? 'slot slot-busy' : 'slot'} />
          ))}
        </span>
      )}
      {busy} of {slots}
    </span>
  );
}
