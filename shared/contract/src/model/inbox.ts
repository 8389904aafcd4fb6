import { failureCode } from '@suzumio/protocol/failure-codes';
import { priority } from '@suzumio/protocol/ids';
import { messageKind } from '@suzumio/protocol/message-kind';
import * as z from 'zod';
import { budgetChange } from './budget.js';
import { modelFault } from './model-fault.js';
import { nextStep } from './next-request.js';
import { pause } from './pause.js';

const time = z.iso.datetime();

const every = {
  id: z.string().describe('By which it is marked as read. Another version, failure or pause has another one.'),
  read: z.boolean().describe('Whether the holder of the token has marked it as read.'),
};
const ofProject = { ...every, project: z.string(), at: time };
const displayName = z.string().nullable().describe('What the agent is called; null where it has no name but its id.');

/** Something that waits for a person, or that an agent told one. */
export const inboxItem = z
  .discriminatedUnion('kind', [
    z.object({ kind: z.literal('report'), ...ofProject, version: z.int(), ...nextStep.shape }),
    z.object({
      kind: z.literal('failure'),
      ...ofProject,
      agent: z.string(),
      displayName,
      code: failureCode,
      message: z.string(),
      turnNumber: z.int(),
      ...nextStep.shape,
    }),
    z.object({
      kind: z.literal('pause'),
      ...ofProject,
      project: z.string().nullable().describe('Null where every project is paused.'),
      agent: z.string().nullable().describe('Null where its whole project is paused.'),
      displayName,
      pause,
      ...nextStep.shape,
    }),
    z.object({
      kind: z.literal('budget'),
      ...every,
      project: z.string().nullable().describe("Null for the cell's budget of the day."),
      agent: z.string().nullable().describe("Whose budget; null for the project's own."),
      displayName,
      limit: z.enum(['tokens', 'usd', 'turns']),
      max: z.number(),
      used: z.number().describe('What is used of it, more than four fifths; reservations of running calls included.'),
      ...nextStep.shape,
    }),
    z.object({
      kind: z.literal('model'),
      ...ofProject,
      ...modelFault.pick({ preset: true, code: true, message: true }).shape,
      ...nextStep.shape,
    }),
    z.object({
      kind: z.literal('message'),
      ...ofProject,
      message: z.object({
        id: z.string(),
        seq: z.int(),
        sender: z.string(),
        displayName,
        priority,
        kind: messageKind,
        threadId: z.string(),
        excerpt: z.string().describe('The beginning of its text.'),
      }),
      ...nextStep.shape,
    }),
  ])
  .describe(
    'What waits for a person (a report, a failure, a pause, a budget, a model that refuses), or what an agent sent to `user`.',
  );
export type InboxItem = z.infer<typeof inboxItem>;
export type InboxKind = InboxItem['kind'];

/** The kinds of what waits for a person, apart from mail. */
export const waitingKinds = ['report', 'failure', 'pause', 'budget', 'model'] as const satisfies readonly InboxKind[];

const settled = {
  id: z.string().describe("Its event's project and number."),
  project: z.string(),
  at: time,
  by: z.string().describe("Who decided: a token's name, or `user`."),
};
const reportVersion = z.int().nullable().describe('Null where an earlier release wrote the event without it.');

/** Something that waited for a person, and what one decided. */
export const decision = z
  .discriminatedUnion('kind', [
    z.object({ kind: z.literal('approved'), ...settled, version: reportVersion }),
    z.object({
      kind: z.literal('changes-requested'),
      ...settled,
      version: reportVersion,
      recipient: z.string().nullable().describe('The agent that was asked.'),
      displayName,
    }),
    z.object({
      kind: z.literal('retried'),
      ...settled,
      agent: z.string(),
      displayName,
      turnNumber: z.int().nullable(),
    }),
    z.object({
      kind: z.literal('reset'),
      ...settled,
      agent: z.string(),
      displayName,
      redelivered: z.int().describe('How many messages are unread again.'),
    }),
    z.object({
      kind: z.literal('budget-changed'),
      ...settled,
      agent: z.string().nullable().describe("Whose budget; null for the project's own."),
      displayName,
      limits: budgetChange.describe('The limits that were set.'),
    }),
    z.object({
      kind: z.literal('resumed'),
      ...settled,
      agent: z.string().nullable().describe('Null where the whole project was resumed.'),
      displayName,
    }),
  ])
  .describe(
    'What a person decided: a report approved or sent back, a failed agent retried or reset, a budget changed, an agent or a project resumed.',
  );
export type Decision = z.infer<typeof decision>;

export const inboxKinds = [...waitingKinds, 'message'] as const satisfies readonly InboxKind[];

/** From this share of a budget on, it is in the inbox. */
export const budgetShareTold = 0.8;
