import { SuzumioError } from '../errors/suzumio-error.js';

/** The states of an assigned task. `done` and `declined` are final. */
export const taskStates = ['open', 'accepted', 'done', 'declined'] as const;
export type TaskState = (typeof taskStates)[number];

/** The states that a reply can move a task to. */
export const taskMoves = ['accepted', 'done', 'declined'] as const;
export type TaskMove = (typeof taskMoves)[number];

/** Small tasks can be done without having been accepted first. */
const next: Readonly<Record<TaskState, readonly TaskMove[]>> = {
  open: ['accepted', 'done', 'declined'],
  accepted: ['done', 'declined'],
  done: [],
  declined: [],
};

/**
 * Checks that a task can move to a state.
 *
 * @throws SuzumioError `task-state-refused`, which says what it can become
 */
export function assertTaskAllows(task: { id: string; state: TaskState }, to: TaskMove): void {
  const allowed = next[task.state];
  if (allowed.includes(to)) return;
  const can =
    allowed.length === 0
      ? 'that is final'
      : `it can become ${new Intl.ListFormat('en', { type: 'disjunction' }).format(allowed)}`;
  throw new SuzumioError('task-state-refused', `Task ${task.id} is ${task.state} and cannot become ${to}: ${can}.`, {
    task: task.id,
    state: task.state,
    allowed,
  });
}
