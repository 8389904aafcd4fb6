import type { ProjectDetail, UsageRow } from '@suzumio/sdk/client';
import { useQuery } from '@tanstack/react-query';
import { api, keys } from '../../api.js';
import { Failure } from '../../parts/failure.js';
import { bytes, count, dollars, some } from '../../parts/numbers.js';
import { useBudget } from './use-project.js';

const days = 30;

function useUsage(project: string, by: 'day' | 'agent' | 'model') {
  return useQuery({
    queryKey: [...keys.project(project), 'usage', by],
    queryFn: () => api.getUsage({ query: { by, project } }),
  });
}

/** What the models of a project have cost, by day, agent and model, beside its budgets and what it stores. */
export function Cost({ detail: { project } }: { detail: ProjectDetail }) {
  const byDay = useUsage(project.id, 'day');
  const [byAgent, byModel] = [useUsage(project.id, 'agent'), useUsage(project.id, 'model')];
  const budgets = useBudget(project.id);
  if (byDay.error && byDay.data === undefined) {
    return <Failure error={byDay.error} again={() => void byDay.refetch()} />;
  }
  if (byDay.data === undefined) return null;
  const { total, stored } = byDay.data;
  return (
    <div className="page">
      <ul className="figures">
        <Figure value={dollars(total.costUsd)} words="cost" />
        <Figure value={count(total.inputTokens + total.outputTokens)} words="tokens" />
        <Figure value={count(total.calls)} words={total.calls === 1 ? 'model call' : 'model calls'} />
        <Figure value={bytes(allOf(stored.bytes))} words="stored" />
      </ul>
      {total.estimatedShare > 0 ? (
        <p className="quiet">
          {Math.round(total.estimatedShare * 100)} % of the tokens are estimated: a provider counted none.
        </p>
      ) : null}
      <Days rows={byDay.data.items.slice(-days)} />
      <Rows title="By agent" rows={byAgent.data?.items ?? []} />
      <Rows title="By model" rows={byModel.data?.items ?? []} />
      <section aria-label="Budgets">
        <h2>Budgets</h2>
        <ul className="budgets">
          {(budgets.data ?? []).map((budget) => (
            <li key={budget.agent ?? ''}>
              <b>
                <bdi>{budget.agent ?? 'The project'}</bdi>
              </b>
              {(['usd', 'tokens', 'turns'] as const).map((kind) => {
                const { limit, used } = budget[kind];
                const shown = (value: number) => (kind === 'usd' ? dollars(value) : `${count(value)} ${kind}`);
                return (
                  <span key={kind} className="budget">
                    {shown(used)} {limit === null ? <span className="quiet">without limit</span> : `of ${shown(limit)}`}
                  </span>
                );
              })}
            </li>
          ))}
        </ul>
      </section>
    </div>
  );
}

function allOf(kinds: Readonly<Record<string, number>>): number {
  return Object.values(kinds).reduce((sum, size) => sum + size, 0);
}

function Figure({ value, words }: { value: string; words: string }) {
  return (
    <li>
      <b>{value}</b> {words}
    </li>
  );
}

/** Days of UTC as bars, with a table for those who do not see them. */
function Days({ rows }: { rows: readonly UsageRow[] }) {
  const most = Math.max(
    ...rows.map(({ costUsd, inputTokens, outputTokens }) => costUsd || inputTokens + outputTokens),
    1e-9,
  );
  const [width, height, gap] = [28, 120, 6];
  return (
    <section aria-label="By day">
      <h2>
        By day <span className="pane-note">of UTC</span>
      </h2>
      {rows.length === 0 ? <p className="quiet">No model was asked yet.</p> : null}
      {rows.length === 0 ? null : (
        <div className="table-scroll">
          <svg className="days" width={rows.length * (width + gap)} height={height + 20} aria-hidden>
            {rows.map((row, index) => {
              const share = (row.costUsd || row.inputTokens + row.outputTokens) / most;
              const bar = Math.max(share * height, 1);
              return (
                <g key={row.key}>
                  <title>{`${row.key}: ${dollars(row.costUsd)}, ${count(row.inputTokens + row.outputTokens)} tokens`}</title>
                  <rect x={index * (width + gap)} y={height - bar} width={width} height={bar} rx={2} />
                  <text x={index * (width + gap) + width / 2} y={height + 15}>
                    {row.key.slice(8)}
                  </text>
                </g>
              );
            })}
          </svg>
        </div>
      )}
      <Rows title="" rows={rows} />
    </section>
  );
}

function Rows({ title, rows }: { title: string; rows: readonly UsageRow[] }) {
  if (rows.length === 0) return null;
  return (
    <section aria-label={title === '' ? 'Days' : title}>
      {title === '' ? null : <h2>{title}</h2>}
      <div className="table-scroll">
        <table className="table">
          <thead>
            <tr>
              <th scope="col">
                {title === '' ? 'Day' : title.replace('By ', '').replace(/^./, (letter) => letter.toUpperCase())}
              </th>
              <th scope="col" className="number">
                Cost
              </th>
              <th scope="col" className="number">
                In
              </th>
              <th scope="col" className="number">
                Out
              </th>
              <th scope="col" className="number">
                Calls
              </th>
            </tr>
          </thead>
          <tbody>
            {rows.map((row) => (
              <tr key={row.key}>
                <th scope="row">
                  <bdi>{row.key}</bdi>
                </th>
                <td className="number">{dollars(row.costUsd)}</td>
                <td className="number">{count(row.inputTokens)}</td>
                <td className="number">{count(row.outputTokens)}</td>
                <td className="number">{some(row.calls, 'call')}</td>
              </tr>
            ))}
          </tbody>
        </table>
      </div>
    </section>
  );
}
