import { type ComponentType, lazy, Suspense } from 'react';

/** A part that is loaded when it is shown for the first time, and leaves its place empty until then. */
function late<Props extends object>(load: () => Promise<{ default: ComponentType<Props> }>) {
  const Part = lazy(load) as unknown as ComponentType<Props>;
  return function Late(props: Props) {
    return (
      <Suspense>
        <Part {...props} />
      </Suspense>
    );
  };
}

export const ProjectActs = late(() => import('./project-acts.js'));
export const AgentActs = late(() => import('./agent-acts.js'));
export const LetterActs = late(() => import('./letter-acts.js'));
export const FileActs = late(() => import('./file-acts.js'));
export const BudgetActs = late(() => import('./budget-acts.js'));
export const NextAct = late(() => import('./next-act.js'));
export const SystemActs = late(() => import('./system-acts.js'));
