import { describe, expect, test } from '@jest/globals';
import { SuzumioError } from '@suzumio/contract/errors/suzumio-error';
import {
  nextProjectStatus,
  type ProjectAction,
  projectStatuses,
  type ProjectStatus,
} from '@suzumio/contract/model/project-status';

const actions: readonly ProjectAction[] = ['start', 'stop', 'submit', 'approve', 'request-changes'];

/** The whole table; what is absent is refused. */
const allowed: Readonly<Record<ProjectStatus, Partial<Record<ProjectAction, ProjectStatus>>>> = {
  initialized: { start: 'running', stop: 'stopped' },
  running: { submit: 'submitted', stop: 'stopped' },
  submitted: { approve: 'completed', 'request-changes': 'running', stop: 'stopped' },
  completed: { 'request-changes': 'running' },
  stopped: { start: 'running', submit: 'submitted' },
};

const cases = projectStatuses.flatMap((status) =>
  actions.map((action) => [status, action, allowed[status][action]] as const),
);

describe('nextProjectStatus', () => {
  test.each(cases.filter(([, , to]) => to !== undefined))('%s, %s -> %s', (status, action, to) => {
    expect(nextProjectStatus(status, action)).toBe(to);
  });

  test.each(cases.filter(([, , to]) => to === undefined))('%s refuses %s', (status, action) => {
    const refusal = refusalOf(status, action);
    expect(refusal).toMatchObject({ code: 'transition-refused', details: { status, action } });
    expect(refusal.message).toContain(`is ${status}, so "${action}" is refused`);
  });

  test('a refusal says what would be right', () => {
    expect(refusalOf('running', 'approve').message).toBe(
      'The project is running, so "approve" is refused: it needs a project that is submitted.',
    );
    expect(refusalOf('completed', 'stop').message).toMatch(/that is initialized, running, or submitted\.$/);
  });
});

function refusalOf(status: ProjectStatus, action: ProjectAction): SuzumioError {
  try {
    nextProjectStatus(status, action);
  } catch (error) {
    if (error instanceof SuzumioError) return error;
  }
  throw new Error(`${status} allows ${action}`);
}
