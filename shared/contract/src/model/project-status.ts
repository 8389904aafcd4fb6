import { SuzumioError } from '../errors/suzumio-error.js';

/** A project's statuses. Mail is accepted in each of them and starts turns only in `running`. */
export const projectStatuses = ['initialized', 'running', 'submitted', 'completed', 'stopped'] as const;
export type ProjectStatus = (typeof projectStatuses)[number];

/** The actions that change a project's status. */
export type ProjectAction = 'start' | 'stop' | 'submit' | 'approve' | 'request-changes';

interface Transition {
  readonly from: readonly ProjectStatus[];
  readonly to: ProjectStatus;
}

/** All transitions. A stopped project accepts the report of a turn that was still running when it stopped. */
const transitions: Readonly<Record<ProjectAction, Transition>> = {
  start: { from: ['initialized', 'stopped'], to: 'running' },
  stop: { from: ['initialized', 'running', 'submitted'], to: 'stopped' },
  submit: { from: ['running', 'stopped'], to: 'submitted' },
  approve: { from: ['submitted'], to: 'completed' },
  'request-changes': { from: ['submitted', 'completed'], to: 'running' },
};

/**
 * The status that `action` leads to from `status`.
 *
 * @throws SuzumioError `transition-refused`, which names the status, the action and the statuses that allow it.
 */
export function nextProjectStatus(status: ProjectStatus, action: ProjectAction): ProjectStatus {
  const { from, to } = transitions[action];
  if (from.includes(status)) return to;
  const allowed = new Intl.ListFormat('en', { type: 'disjunction' }).format(from);
  throw new SuzumioError(
    'transition-refused',
    `The project is ${status}, so "${action}" is refused: it needs a project that is ${allowed}.`,
    { status, action, allowedIn: from },
  );
}
