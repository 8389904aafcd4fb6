import { useMay } from '../use-act.js';
import { BudgetDialog } from './budget-dialog.js';
import { openDialog } from './dialogs.js';

/** Opens the budget of a project or of one of its agents. */
export default function BudgetActs({ project, agent }: { project: string; agent: string | null }) {
  const may = useMay();
  if (!may('changeBudget')) return null;
  return (
    <button
      type="button"
      className="button"
      onClick={() => openDialog(<BudgetDialog project={project} agent={agent} />)}
    >
      Change <span className="visually-hidden">the budget of {agent ?? 'the project'}</span>
    </button>
  );
}
