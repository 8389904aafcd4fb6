import type { FailureCode } from '@suzumio/protocol/failure-codes';
import { type NextStep, nextSteps } from './next-steps.js';

/** What leads on after an agent's turn has failed. */
interface Help {
  /**
   * - `retry`: the same turn goes on from its journal
   * - `mend`: the same, once what `words` says is mended
   * - `redeliver`: the journal leads to the same end again, so the turn is given up, and a new one reads its mail
   * - `budget`, `usage`: a limit is in the way
   */
  step: 'retry' | 'mend' | 'redeliver' | 'budget' | 'usage';
  /** What a person has to know before. */
  words?: string;
}

const mendTheFile =
  "where the project's file is wrong, a retry goes by the version that the turn began with: apply another (suzumio config apply), then give the turn up (agents reset --redeliver)";

/** Every failure with which a turn may end. */
const helps: Readonly<Record<FailureCode, Help>> = {
  'engine-unreachable': { step: 'retry' },
  'image-missing': { step: 'retry' },
  'container-start-failed': { step: 'retry' },
  'disk-full': { step: 'retry' },
  'worker-shutdown': { step: 'retry' },
  'workspace-unavailable': { step: 'retry' },
  'git-missing': { step: 'retry' },
  'repository-unavailable': { step: 'retry' },
  'provider-unavailable': { step: 'retry' },
  'day-budget-reached': { step: 'retry' },
  'mount-in-use': { step: 'retry' },
  'handler-disconnected': { step: 'retry' },
  'lease-expired': { step: 'retry' },
  'worker-lost': { step: 'retry' },
  'container-vanished': { step: 'retry' },
  'project-restored': { step: 'retry' },
  'input-redacted': { step: 'retry' },
  'container-killed': { step: 'retry' },
  'non-zero-exit': { step: 'retry' },
  'output-missing': { step: 'retry' },
  'output-invalid': { step: 'retry' },
  'output-too-large': { step: 'retry' },
  'time-limit': { step: 'retry' },
  'out-of-memory': { step: 'retry' },
  'workspace-too-large': { step: 'retry' },
  'refusal-limit': { step: 'retry' },
  'answer-too-large': { step: 'retry' },

  'start-deadline': { step: 'mend', words: 'Retry it once a worker can run it: suzumio doctor says what is missing.' },
  'image-without-node': { step: 'mend', words: 'Retry it once the image has Node.' },
  'image-without-tools': { step: 'mend', words: 'Retry it once the image is made anew.' },
  'handler-failed': { step: 'mend', words: 'Retry it once its handler is mended.' },
  'prompt-failed': { step: 'mend', words: 'Retry it once that is mended.' },
  'policy-denied': { step: 'mend', words: `Retry it once the policy allows that; ${mendTheFile}.` },
  'repository-refused': { step: 'mend', words: `Retry it once the repository can be cloned; ${mendTheFile}.` },
  'repository-failed': {
    step: 'mend',
    words: `What Git says tells what is wrong. Retry it once that is mended; ${mendTheFile}.`,
  },
  'repository-too-large': { step: 'mend', words: `Retry it once the repository is small enough; ${mendTheFile}.` },
  'repository-unsupported': { step: 'mend', words: `Retry it once what is said there is done; ${mendTheFile}.` },
  'ref-unknown': { step: 'mend', words: `Retry it once the repository has that ref; ${mendTheFile}.` },
  'provider-key-rejected': {
    step: 'mend',
    words: `Retry it once the server was started with a key that the provider accepts; ${mendTheFile}.`,
  },
  'provider-access-refused': {
    step: 'mend',
    words: `Retry it once the provider serves this account from here; ${mendTheFile}.`,
  },
  'provider-quota-spent': { step: 'mend', words: 'Retry it once the account is topped up.' },
  'model-unknown': { step: 'mend', words: `Retry it once the provider has that model; ${mendTheFile}.` },

  'step-limit': {
    step: 'redeliver',
    words:
      "A retry would be at the limit at once; a new turn has all its steps. Where they are too few, change the project's file first (suzumio config apply).",
  },
  'journal-mismatch': {
    step: 'redeliver',
    words: 'A retry would contradict the same journal; a new turn has its own.',
  },
  'model-refused': {
    step: 'redeliver',
    words:
      "A retry would ask the same again; a new turn asks anew. Where the settings are refused, change the project's file first (suzumio config apply).",
  },
  'schema-refused': {
    step: 'redeliver',
    words:
      "A retry would show the same tools again; a new turn shows those of the project's present file. Take the tool out, or name another model, first (suzumio config apply).",
  },
  'answer-unreadable': { step: 'redeliver', words: 'A retry would go by the same answers; a new turn asks anew.' },
  'answer-empty': { step: 'redeliver', words: 'A retry would go by the same answers; a new turn asks anew.' },
  'answer-refused': { step: 'redeliver', words: 'A retry would go by the same answer; a new turn asks anew.' },
  'answer-withheld': { step: 'redeliver', words: 'A retry would go by the same answer; a new turn asks anew.' },
  'answer-endless': { step: 'redeliver', words: 'A retry would go by the same answers; a new turn asks anew.' },
  'input-repeated': { step: 'redeliver', words: 'A retry would go by the same answers; a new turn asks anew.' },
  'context-overflow': { step: 'redeliver', words: 'A retry would tell as much again; a new turn begins with less.' },

  'budget-reached': { step: 'budget', words: 'Retry it once its budget is larger.' },
  'quota-exceeded': { step: 'usage', words: 'Retry it once there is room.' },
};

/** What helps after a failure; one of another version is retried. */
function helpFor(code: string): Help {
  return Object.hasOwn(helps, code) ? helps[code as FailureCode] : { step: 'retry' };
}

/** What a person has to know before what comes next; an empty text where that is all. */
export function wordsAfterFailure(code = ''): string {
  return helpFor(code).words ?? '';
}

/**
 * What comes next where the failure and its words are told.
 *
 * @param agent whose turn failed
 */
export function stepAfterFailure(project: string, agent: string, code = ''): NextStep {
  switch (helpFor(code).step) {
    case 'budget':
      return nextSteps.readBudget(project);
    case 'usage':
      return nextSteps.usage(project);
    case 'redeliver':
      return nextSteps.redeliver(project, agent);
    case 'retry':
    case 'mend':
      return nextSteps.retry(project, agent);
  }
}

/** What comes next where the failure alone is told: whatever has to be mended first is told by `why`. */
export function stepAfterEvent(project: string, agent: string, code = ''): NextStep {
  return helpFor(code).step === 'mend' ? nextSteps.why(project, agent) : stepAfterFailure(project, agent, code);
}
