import * as z from 'zod';

/**
 * Why an attempt failed, by the class that decides what follows.
 *
 * - `before-start`: the attempt never ran; not counted, retried with back-off until `turn.startDeadline`.
 * - `provider`: the model's provider is unavailable; not counted, retried until `turn.providerPatience`.
 * - `day`: the day's budget of all projects is spent; not counted, retried on another day or with a larger budget.
 * - `mount`: another turn could move what is to be mounted; not counted, retried until that turn has ended.
 * - `unanswered`: the claim's answer did not reach its handler; not counted, retried at once, and with back-off where
 *   that happens again.
 * - `machinery`: Suzumio or its host failed during the attempt; counted, retried at once up to `turn.maxAttempts`.
 * - `agent`: the agent's own doing; the turn fails at once.
 */
export const failureCodes = {
  'engine-unreachable': 'before-start',
  'image-missing': 'before-start',
  'image-without-node': 'agent',
  'image-without-tools': 'agent',
  'container-start-failed': 'before-start',
  'disk-full': 'before-start',
  'worker-shutdown': 'before-start',
  'workspace-unavailable': 'before-start',
  'git-missing': 'before-start',
  'repository-unavailable': 'before-start',

  'provider-unavailable': 'provider',
  'day-budget-reached': 'day',
  'mount-in-use': 'mount',
  'handler-disconnected': 'unanswered',

  'repository-failed': 'machinery',
  'lease-expired': 'machinery',
  'worker-lost': 'machinery',
  'container-vanished': 'machinery',
  'project-restored': 'machinery',
  'input-redacted': 'machinery',
  'container-killed': 'machinery',

  'non-zero-exit': 'agent',
  'handler-failed': 'agent',
  'output-missing': 'agent',
  'output-invalid': 'agent',
  'output-too-large': 'agent',
  'time-limit': 'agent',
  'out-of-memory': 'agent',
  'workspace-too-large': 'agent',
  'repository-refused': 'agent',
  'repository-too-large': 'agent',
  'repository-unsupported': 'agent',
  'ref-unknown': 'agent',
  'journal-mismatch': 'agent',
  'refusal-limit': 'agent',
  'prompt-failed': 'agent',
  'policy-denied': 'agent',
  'step-limit': 'agent',
  'budget-reached': 'agent',
  'quota-exceeded': 'agent',
  'provider-key-rejected': 'agent',
  'provider-access-refused': 'agent',
  'provider-quota-spent': 'agent',
  'model-unknown': 'agent',
  'model-refused': 'agent',
  'schema-refused': 'agent',
  'answer-too-large': 'agent',
  'answer-unreadable': 'agent',
  'answer-empty': 'agent',
  'answer-refused': 'agent',
  'answer-withheld': 'agent',
  'answer-endless': 'agent',
  'input-repeated': 'agent',
  'context-overflow': 'agent',
  'start-deadline': 'agent',
} as const satisfies Record<
  string,
  'before-start' | 'provider' | 'day' | 'mount' | 'unanswered' | 'machinery' | 'agent'
>;

export type FailureCode = keyof typeof failureCodes;
export type FailureClass = (typeof failureCodes)[FailureCode];

/** The longest sentence on a failure. */
export const maxFailureChars = 2_000;

export const failureCode = z.enum(Object.keys(failureCodes) as [FailureCode, ...FailureCode[]]);

/**
 * Failures that a runner reports itself, since only it can interpret the answer.
 *
 * - `answer-empty`: the model answered nothing, also after it was asked for one word, and no call of its has succeeded
 * - `answer-refused`: the model refused
 * - `answer-unreadable`: the model wrote its calls as text, also after it was told so; the gateway says it of answers that it
 *   cannot read
 * - `answer-withheld`: the provider withheld the answer
 * - `answer-endless`: answers were cut off at the maximum length repeatedly
 * - `input-repeated`: the model made the same call three times in a row, though its input was refused
 * - `context-overflow`: the conversation cannot be made short enough for the model
 */
export const toldByRunner = z.enum([
  'answer-empty',
  'answer-refused',
  'answer-unreadable',
  'answer-withheld',
  'answer-endless',
  'input-repeated',
  'context-overflow',
] as const satisfies readonly FailureCode[]);
export type ToldByRunner = z.infer<typeof toldByRunner>;

/** Why an attempt failed: a stable code, a sentence for a person, and the worker's measurements. */
export const failure = z.object({
  code: failureCode,
  message: z.string().max(maxFailureChars),
  exitCode: z.int().optional(),
  signal: z.string().max(40).optional(),
  oomKilled: z.boolean().optional(),
});
export type Failure = z.infer<typeof failure>;
