import type { Client, Why } from '@suzumio/sdk/client';
import { Link } from 'wouter';
import { agentPath, mailPath, turnsPath } from '../../parts/places.js';
import { useMayIn } from '../use-may-make.js';
import { Bar, ActButton } from './bar.js';
import { BudgetDialog } from './budget-dialog.js';
import { openDialog } from './dialogs.js';
import { type Asked, useRun } from './use-run.js';
import { words } from './words.js';

export type Next = NonNullable<Why['reasons'][number]['request']>;

/** What comes next, as a button or a link; nothing where the page has none, or who is signed in may not. */
export default function NextAct({ next }: { next: Next }) {
  const { operation, params } = next;
  const project = textOf(params['project']);
  const may = useMayIn(project);
  if (operation === 'changeBudget') {
    return may('changeBudget') ? (
      <div className="bar">
        <button
          type="button"
          className="button"
          onClick={() => openDialog(<BudgetDialog project={project} agent={agentOf(params['body'])} />)}
        >
          Raise the budget…
        </button>
      </div>
    ) : null;
  }
  if (operation in words) {
    return may(operation as keyof Client) && next.asks.length === 0 ? (
      <Does request={next as Asked} said={words[operation as keyof typeof words]} project={project} />
    ) : null;
  }
  const [name, to] = placeOf(next) ?? [];
  return to === undefined ? null : (
    <div className="bar">
      <Link href={to} className="button">
        {name}
      </Link>
    </div>
  );
}

function Does({
  request,
  said: { does, will, did },
  project,
}: {
  request: Asked;
  said: (typeof words)[keyof typeof words];
  project: string;
}) {
  const run = useRun(project === '' ? undefined : project);
  const { operation, params } = request;
  return (
    <Bar label={does} run={run}>
      <ActButton does={does} will={will} run={run} onAct={() => run.ask({ operation, params }, did)} />
    </Bar>
  );
}

/** The page that shows what an operation reads. */
function placeOf({ operation, params }: Next): [name: string, path: string] | undefined {
  const project = textOf(params['project']);
  const places: Readonly<Record<string, () => [string, string]>> = {
    getBudget: () => ['Look at the budget', `/p/${project}/cost`],
    getUsage: () => ['Look at the cost', '/cost'],
    getReport: () => ['Read the report', `/p/${project}/report`],
    requestChanges: () => ['Read the report', `/p/${project}/report`],
    followTurn: () => ['Watch the turn', `/p/${project}/turns/${textOf(params['turn'])}`],
    getTurn: () => ['Look at the turn', `/p/${project}/turns/${textOf(params['turn'])}`],
    listTurns: () => ['Look at the turns', turnsPath(project, {})],
    getMessage: () => ['Read the message', mailPath(project, textOf(params['message']))],
    whyAgent: () => ['Look at it', agentPath(project, textOf(params['agent']))],
    listWorkers: () => ['Look at the workers', '/system'],
  };
  return places[operation]?.();
}

function textOf(value: unknown): string {
  return typeof value === 'string' ? value : '';
}

function agentOf(body: unknown): string | null {
  return typeof body === 'object' && body !== null && 'agent' in body ? textOf(body.agent) : null;
}
