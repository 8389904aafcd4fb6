import type { Client } from '@suzumio/sdk/client';
import { useId, useState } from 'react';
import { useBudget } from '../../use-project.js';
import { Failure } from '../../parts/failure.js';
import { count, dollars } from '../../parts/numbers.js';
import { ActDialog } from './act-dialog.js';
import { asked, useRun } from './use-run.js';

const limits = { usd: 'Dollars', tokens: 'Tokens', turns: 'Turns' } as const;
type Limit = keyof typeof limits;
type Change = NonNullable<Parameters<Client['changeBudget']>[0]>['body'];

/** Sets limits of a project's budget, or of an agent's, beside what is used of them. */
export function BudgetDialog({ project, agent }: { project: string; agent: string | null }) {
  const id = useId();
  const run = useRun(project);
  const budgets = useBudget(project);
  const budget = budgets.data?.find((one) => one.agent === agent);
  const [typed, setTyped] = useState<Readonly<Partial<Record<Limit, string>>>>({});
  const [problem, setProblem] = useState('');
  const all = (Object.keys(limits) as Limit[]).map((limit) => [limit, typed[limit]?.trim() ?? ''] as const);
  const submit = () => {
    const named = all.filter(([, text]) => text !== '');
    const wrong = named.find(([, text]) => text !== 'unlimited' && !Number.isFinite(Number(text)));
    setProblem(
      wrong
        ? `${limits[wrong[0]]}: a number, or the word "unlimited".`
        : named.length === 0
          ? 'Nothing is changed: every field is empty.'
          : '',
    );
    if (wrong || named.length === 0) return;
    const change = Object.fromEntries(
      named.map(([limit, text]) => [limit, text === 'unlimited' ? text : Number(text)]),
    );
    const body = { ...change, ...(agent === null ? {} : { agent }) } as Change;
    run.ask(asked('changeBudget', { project, body }), 'The budget is changed.');
  };
  return (
    <ActDialog
      title={
        <>
          The budget of <bdi>{agent ?? project}</bdi>
        </>
      }
      run={run}
      ask={submit}
      does="Set the budget"
      will={`${id}-will`}
    >
      {budgets.error ? <Failure error={budgets.error} again={() => void budgets.refetch()} /> : null}
      <p id={`${id}-will`}>
        Limits that are typed here stand in the place of those of the project file. What is used stays used; a limit
        below it keeps agents from new turns.
      </p>
      {all.map(([limit]) => {
        const shown = (value: number) => (limit === 'usd' ? dollars(value) : count(value));
        const use = budget?.[limit];
        return (
          <label key={limit} className="dialog-field budget-field">
            <span>{limits[limit]}</span>
            <input
              className="input"
              inputMode="decimal"
              autoComplete="off"
              placeholder={use?.limit == null ? 'unlimited' : String(use.limit)}
              value={typed[limit] ?? ''}
              aria-describedby={`${id}-${limit}`}
              onChange={({ target }) => {
                setTyped({ ...typed, [limit]: target.value });
                setProblem('');
              }}
            />
            <span className="quiet" id={`${id}-${limit}`}>
              {use === undefined
                ? ''
                : `${shown(use.used)} used ${use.limit === null ? 'without limit' : `of ${shown(use.limit)}`}`}
            </span>
          </label>
        );
      })}
      <p className="quiet">A field that is empty stays as it is.</p>
      <p role="alert" className="dialog-wrong">
        {problem}
      </p>
    </ActDialog>
  );
}
