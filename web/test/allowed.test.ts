import { describe, expect, test } from '@jest/globals';
import { nextProjectStatus, projectStatuses } from '@suzumio/contract/model/project-status';
import { agentStates } from '@suzumio/contract/model/states';
import { assertAgentAllows } from '@suzumio/core/failures/agent-actions';
import { agentAllows, projectAllows } from '../src/acts/run/allowed.js';

/** Whether the server's rule lets something be. */
function lets(rule: () => unknown): boolean {
  try {
    rule();
    return true;
  } catch {
    return false;
  }
}

describe('the page offers what the server allows', () => {
  test.each(['start', 'stop'] as const)('%s of a project', (act) => {
    for (const status of projectStatuses) {
      expect({ status, allows: projectAllows(act, { status }) }).toEqual({
        status,
        allows: lets(() => nextProjectStatus(status, act)),
      });
    }
  });

  test.each(['retry', 'reset', 'redeliver', 'stop', 'start', 'pause'] as const)('%s of an agent', (act) => {
    for (const state of agentStates) {
      for (const stopping of [false, true]) {
        expect({ state, stopping, allows: agentAllows(act, { state, stopping }) }).toEqual({
          state,
          stopping,
          allows: lets(() => assertAgentAllows({ id: 'ada', state, stopping }, act)),
        });
      }
    }
  });
});
