import type { Agent } from '@suzumio/sdk/client';
import { type Asked, asked } from './use-run.js';

/** What acts are called, and what they will do: the same wherever they stand. */
export const words = {
  retryAgent: {
    does: 'Retry',
    will: 'Its turn goes on from where it stood. What it did has no second effect.',
    did: 'The turn is queued again.',
  },
  resetAgent: {
    does: 'Begin again',
    will: 'A new turn reads its mail, and may repeat what the failed one did.',
    did: 'Its mail is unread again.',
  },
  startAgent: { does: 'Start it', will: 'It starts turns again.', did: 'It starts turns again.' },
  startProject: { does: 'Start the project', will: 'Mail that waits starts turns at once.', did: 'The project runs.' },
  resumeProject: { does: 'Resume the project', will: 'Its agents start turns again.', did: 'The project goes on.' },
  resumeAgent: {
    does: 'Resume',
    will: 'It starts turns again, with a fresh allowance for the hour.',
    did: 'It goes on.',
  },
  resumeCell: { does: 'Resume everything', will: 'All projects start turns again.', did: 'All projects go on.' },
  redeliverMessage: {
    does: 'Deliver again',
    will: 'A new turn reads it, and may repeat what an earlier one did.',
    did: 'It is unread again.',
  },
  cancelTurn: {
    does: 'Cancel',
    will: 'What has run of it is ended at once; its mail counts as not delivered. It can be retried.',
    did: 'The turn is cancelled.',
  },
} as const;

/** What leads on after a failure by one request: the turn goes on, or a new one reads its mail. */
export function afterFailure(failure: Agent['failure']): 'retryAgent' | 'resetAgent' {
  return failure?.request?.operation === 'resetAgent' ? 'resetAgent' : 'retryAgent';
}

export function goingOn(operation: 'retryAgent' | 'resetAgent', project: string, agent: string): Asked {
  return operation === 'retryAgent'
    ? asked('retryAgent', { project, agent })
    : asked('resetAgent', { project, agent, body: { redeliver: true } });
}
