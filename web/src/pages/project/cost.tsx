import type { ProjectDetail, UsageRow } from '@suzumio/sdk/client';
import { useQuery } from '@tanstack/react-query';
import { BudgetActs } from '../../acts/run/late.js';
import { api, keys } from '../../api.js';
import { Copyable } from '../../parts/copy.js';
import { Failure } from '../../parts/failure.js';
import { visible } from '../../parts/visible.js';
import { bytes, cachedPart, count, dollars } from '../../parts/numbers.js';
import { Evidence } from '../../parts/stacked-days.js';
import { DaysOfUsage } from '../cost/days-of-usage.js';
import { called, turnsPath } from '../../parts/places.js';
import { useBudget } from '../../use-project.js';

function useUsage(project: string, by: 'agent' | 'model') {
  return useQuery({
    queryKey: [...keys.project(project), 'usage', by],
    queryFn: () => api.getUsage({ query: { by, project } }),
  });
}

/** What the models of a project have cost, by day, agent and model, beside its budgets and what it stores. */
export function Cost({ detail: { project, agents } }: { detail: ProjectDetail }) {
  const [byAgent, byModel] = [useUsage(project.id, 'agent'), useUsage(project.id, 'model')];
  if (byAgent.data === undefined) {
    return byAgent.error ? <Failure error={byAgent.error} again={() => void byAgent.refetch()} /> : null;
  }
  const { total, stored } = byAgent.data;
  const turns = turnsPath(project.id, {});
  return (
    <div className="page">
      <ul className="figures">
        <Figure value={dollars(total.costUsd)} words="cost" href={turns} />
        <Figure
          value={count(total.inputTokens + total.outputTokens)}
          words={`tokens${cachedPart(total)}`}
          href={turns}
        />
        <Figure value={count(total.calls)} words={total.calls === 1 ? 'model call' : 'model calls'} href={turns} />
        <Figure value={bytes(allOf(stored.bytes))} words="stored" href={`/p/${project.id}/files`} />
      </ul>
      {total.estimatedShare > 0 ? (
        <p className="quiet">
          {Math.round(total.estimatedShare * 100)} % of the tokens are estimated: a provider counted none.
        </p>
      ) : null}
      {total.calls === 0 ? (
        <p className="quiet">No model was asked yet. What turns ask of models is added up here, day by day.</p>
      ) : (
        <>
          <DaysOfUsage project={project.id} seconds={['agent', 'model']} nameOf={(agent) => called(agent, agents)} />
          <div className="cost-tables">
            <Rows
              title="By agent"
              rows={byAgent.data.items}
              nameOf={(agent) => called(agent, agents)}
              evidence={(agent) => turnsPath(project.id, { agent })}
            />
            <Rows
              title="By model"
              rows={byModel.data?.items ?? []}
              nameOf={(model) => model}
              evidence={(model) => turnsPath(project.id, { model })}
            />
          </div>
        </>
      )}
      <Budgets project={project.id} />
    </div>
  );
}

function allOf(kinds: Readonly<Record<string, number>>): number {
  return Object.values(kinds).reduce((sum, size) => sum + size, 0);
}

function Figure({ value, words, href }: { value: string; words: string; href: string }) {
  return (
    <li>
      <Evidence href={href}>
        <b>{value}</b>
      </Evidence>{' '}
      {words}
    </li>
  );
}

function Rows({
  title,
  rows,
  nameOf,
  evidence,
}: {
  title: string;
  rows: readonly UsageRow[];
  nameOf: (key: string) => string;
  evidence: (key: string) => string;
}) {
  if (rows.length === 0) return null;
  return (
    <section aria-label={title}>
      <h2>{title}</h2>
      <div className="table-scroll">
        <table className="table">
          <thead>
            <tr>
              <th scope="col">{title.replace('By ', '').replace(/^./, (letter) => letter.toUpperCase())}</th>
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
                  <Evidence href={evidence(row.key)}>
                    <bdi>{visible(nameOf(row.key))}</bdi>
                  </Evidence>
                </th>
                <td className="number">{dollars(row.costUsd)}</td>
                <td className="number">
                  {count(row.inputTokens)}
                  {cachedPart(row)}
                </td>
                <td className="number">{count(row.outputTokens)}</td>
                <td className="number">{count(row.calls)}</td>
              </tr>
            ))}
          </tbody>
        </table>
      </div>
    </section>
  );
}

const limits = ['usd', 'tokens', 'turns'] as const;

function Budgets({ project }: { project: string }) {
  const budgets = useBudget(project);
  return (
    <section aria-label="Budgets">
      <h2>Budgets</h2>
      {budgets.error ? <Failure error={budgets.error} again={() => void budgets.refetch()} /> : null}
      <ul className="budgets">
        {(budgets.data ?? []).map((budget) => (
          <li key={budget.agent ?? ''}>
            <b>
              <bdi>{budget.agent ?? 'The project'}</bdi>
            </b>
            {limits.map((kind) => {
              const { limit, used } = budget[kind];
              const shown = (value: number) => (kind === 'usd' ? dollars(value) : `${count(value)} ${kind}`);
              return (
                <span key={kind} className="budget">
                  {shown(used)} {limit === null ? <span className="quiet">without limit</span> : `of ${shown(limit)}`}
                  {limit === null ? null : <Meter share={limit === 0 ? 1 : Math.min(1, used / limit)} />}
                </span>
              );
            })}
            <BudgetActs project={project} agent={budget.agent} />
          </li>
        ))}
      </ul>
      <p className="budgets-foot">
        <span className="quiet">To change a limit:</span> <Copyable text={`suzumio budget ${project} --usd N`} />
      </p>
    </section>
  );
}

/** How much of a limit is used; the words beside it say the same. */
function Meter({ share }: { share: number }) {
  return (
    <svg className="meter" width="160" height="4" aria-hidden>
      <rect width="160" height="4" rx="2" className="meter-ground" />
      <rect width={160 * share} height="4" rx="2" className={share >= 0.8 ? 'meter-high' : 'meter-used'} />
    </svg>
  );
}
