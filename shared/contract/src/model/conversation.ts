import * as z from 'zod';
import { modelCallView } from './model-call.js';
import { toolCallView } from './tool-call.js';

const time = z.iso.datetime();

/** The source and usage of an answer. */
export const modelAnswerFacts = modelCallView
  .pick({
    preset: true,
    model: true,
    inputTokens: true,
    outputTokens: true,
    cachedTokens: true,
    costUsd: true,
    estimated: true,
    reading: true,
  })
  .extend({
    finishReason: z.string().nullable().describe('Why it ended, as the provider said.'),
  });
export type ModelAnswerFacts = z.infer<typeof modelAnswerFacts>;

/** One message of a turn's conversation with its model. */
export const conversationEntry = z.object({
  seq: z.int().describe('Its place in the conversation, from 1.'),
  kind: z
    .enum(['instructions', 'memory', 'earlier', 'prompt', 'answer', 'result'])
    .describe(
      '`instructions`: what the model is told first; `memory`: notes on earlier turns; `earlier`: a message of an earlier turn; `prompt`; `answer`; `result`: what a call came to.',
    ),
  role: z.enum(['system', 'user', 'assistant', 'tool']),
  step: z.string().nullable().describe('The step of an answer or a call; null for what the turn began with.'),
  attempt: z
    .int()
    .nullable()
    .describe('The attempt that was answered so. Later ones are given the same, from the journal.'),
  text: z.string(),
  thoughts: z
    .string()
    .describe(
      'What a model thought before an answer, where its server left that in the text; cut where it is very long.',
    ),
  cutChars: z.int().describe('How much longer the text is, in UTF-16 code units.'),
  calls: z
    .array(z.object({ id: z.string(), name: z.string(), arguments: z.string() }))
    .describe('What an answer calls, as its model wrote it; very long arguments are cut.'),
  moreCalls: z.int().describe('How many calls of the answer are not shown.'),
  call: z.string().nullable().describe('The id of the call that a result is of.'),
  tool: z.string().nullable(),
  input: z.string().nullable().describe('What the call of a result was made with, as JSON; cut where it is very long.'),
  status: toolCallView.shape.status
    .nullable()
    .describe('What became of the call of a result; null where it was not made.'),
  code: z.string().nullable().describe('Why a call or a question was refused, or failed.'),
  startedAt: time.nullable().describe('When the question was asked, or the call was made.'),
  endedAt: time.nullable(),
  answer: modelAnswerFacts.nullable(),
});
export type ConversationEntry = z.infer<typeof conversationEntry>;
