import { useQuery } from '@tanstack/react-query';
import { Link } from 'wouter';
import { api } from '../../api.js';
import { Failure } from '../../parts/failure.js';
import { cachedPart, count, dollars } from '../../parts/numbers.js';
import { DaysOfUsage } from './days-of-usage.js';
import { useTitle } from '../../title.js';

const everyMs = 60_000;

/** What the models of all projects have cost that the person may see. */
export function AllCosts() {
  useTitle('Cost');
  const usage = useQuery({
    queryKey: ['usage', 'project'],
    queryFn: () => api.getUsage(),
    staleTime: everyMs,
    refetchInterval: everyMs,
  });
  const { total, today } = usage.data ?? {};
  return (
    <>
      <header className="head">
        <h1>Cost</h1>
        <span className="head-note">of all projects</span>
        <Link href="/projects" className="button head-act">
          All projects
        </Link>
      </header>
      <div className="page">
        {usage.error && usage.data === undefined ? (
          <Failure error={usage.error} again={() => void usage.refetch()} />
        ) : null}
        {total === undefined ? null : (
          <ul className="figures">
            <li>
              <b>{dollars(total.costUsd)}</b> cost
            </li>
            <li>
              <b>{count(total.inputTokens + total.outputTokens)}</b> tokens
              {cachedPart(total)}
            </li>
            <li>
              <b>{count(total.calls)}</b> model {total.calls === 1 ? 'call' : 'calls'}
            </li>
            {today == null ? null : (
              <li>
                <b>{dollars(today.spentUsd)}</b> {today.budgetUsd === null ? '' : `of ${dollars(today.budgetUsd)} `}
                today, {today.day} of UTC
              </li>
            )}
          </ul>
        )}
        <DaysOfUsage seconds={['project', 'agent', 'model']} />
      </div>
    </>
  );
}
