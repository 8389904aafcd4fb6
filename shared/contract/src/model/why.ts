import * as z from 'zod';
import { projectId } from '@suzumio/protocol/ids';
import { nextRequest } from './next-request.js';
import { agentStates } from './states.js';

/** Why an agent does what it does, or does nothing. */
export const whyCodes = [
  'working',
  'worker-silent',
  'stopping',
  'no-mail',
  'project-initialized',
  'project-stopped',
  'project-submitted',
  'project-completed',
  'cell-paused',
  'project-paused',
  'agent-paused',
  'turns-per-hour',
  'protection',
  'agent-failed',
  'agent-stopped',
  'agent-retired',
  'budget-reached',
  'day-budget-reached',
  'storage-reached',
  'concurrency-limit',
  'provider-away',
  'backoff',
  'toolhost-missing',
  'scheduler-missing',
  'queue-away',
  'handler-missing',
  'waiting-for-handler',
  'worker-missing',
  'backend-missing',
  'workers-draining',
  'workers-not-ready',
  'image-missing',
  'queued-behind',
  'waiting-for-slot',
  'about-to-start',
] as const;
export type WhyCode = (typeof whyCodes)[number];

export const whyReason = z.object({
  code: z.enum(whyCodes),
  sentence: z.string().describe('What it is, for a person.'),
  next: z.string().nullable().describe('The command of `suzumio` that comes next, without its name.'),
  request: nextRequest.nullable().describe('The same as a request; null where there is no such operation.'),
});
export type WhyReason = z.infer<typeof whyReason>;

export const whyAnswer = z.object({
  project: projectId,
  agent: z.string(),
  state: z.enum(agentStates),
  unread: z.int(),
  reasons: z.array(whyReason).min(1).describe('All that holds now; the first is what has to change first.'),
});
export type WhyAnswer = z.infer<typeof whyAnswer>;
