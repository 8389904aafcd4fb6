import * as z from 'zod';
import { failure } from '@suzumio/protocol/failure-codes';
import { priority } from '@suzumio/protocol/ids';
import { attemptView } from './attempt.js';
import { modelCallView } from './model-call.js';
import { seq } from './seq.js';
import { turnStatuses } from './states.js';
import { toolCallView } from './tool-call.js';
import { fileCounts } from './workspace.js';

const time = z.iso.datetime();

export const turnView = z.object({
  id: z.string(),
  seq,
  agent: z.string(),
  number: z.int().describe('Its number among the turns of its agent.'),
  status: z.enum(turnStatuses),
  priority,
  attempt: z.int().describe('How many attempts it has had.'),
  configVersion: z
    .int()
    .describe("The version of the project's file that it runs with: the newest when its prompt was written."),
  text: z.string().nullable().describe('What it ended with.'),
  usage: z.record(z.string(), z.unknown()).nullable(),
  endedByTool: z.string().nullable().describe('The tool that ended it.'),
  failure: failure.nullable(),
  queuedAt: time,
  notBefore: time.nullable().describe('When its next attempt is due, where that has to wait.'),
  startedAt: time.nullable(),
  endedAt: time.nullable(),
  toolCalls: z.int(),
  files: fileCounts
    .nullable()
    .describe(
      'How many files of its workspace it has changed; null where it has changed nothing, or did not complete: the changes of its agent count those.',
    ),
});
export type TurnView = z.infer<typeof turnView>;

/** A turn in a list, with what was asked for besides. */
export const listedTurn = turnView.extend({
  attempts: z
    .exactOptional(
      z.array(
        attemptView
          .pick({ number: true, status: true, worker: true, startedAt: true, endedAt: true })
          .extend({ code: z.string().nullable().describe('Why it failed.') }),
      ),
    )
    .describe('With `include=attempts`: its newest attempts, 50 at the most, in their order.'),
  wokenBy: z
    .exactOptional(
      z
        .object({
          message: z.string().describe('The id of the first message that it was given.'),
          sender: z.string().describe('An agent, `user` or `system`.'),
          at: time.describe('When that was sent.'),
          messages: z.int().describe('How many messages it was given.'),
        })
        .nullable(),
    )
    .describe('With `include=wokenBy`: the mail that it was given; null while it has none.'),
  asked: z
    .exactOptional(
      z.object({
        calls: z.int(),
        inputTokens: z.int(),
        outputTokens: z.int(),
        cachedTokens: z.int(),
        costUsd: z.number(),
      }),
    )
    .describe('With `include=asked`: what its calls of models have come to.'),
});
export type ListedTurn = z.infer<typeof listedTurn>;

/** The attempts that each turn of a list shows. */
export const maxListedAttempts = 50;

/** One turn with everything that it did. */
export const turnDetail = turnView.extend({
  prompt: z.string().nullable(),
  reads: z.array(z.string()).describe('The ids of the messages that it was given.'),
  attempts: z.array(attemptView),
  calls: z.array(toolCallView),
  modelCalls: z.array(modelCallView),
});
export type TurnDetail = z.infer<typeof turnDetail>;
