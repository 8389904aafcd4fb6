import * as z from 'zod';
import { answerReading } from '@suzumio/protocol/model-chat';

const time = z.iso.datetime();

/** One call of a model. */
export const modelCallView = z.object({
  id: z.string(),
  step: z.string(),
  attempt: z.int(),
  purpose: z
    .enum(['turn', 'summary'])
    .describe("Whether the turn asked, or wanted its agent's earlier turns summed up."),
  status: z.enum(['running', 'answered', 'failed', 'lost']),
  preset: z.string().describe('The preset that answered; until one has, the one that was asked.'),
  provider: z.string().nullable(),
  model: z.string().nullable(),
  inputTokens: z.int(),
  outputTokens: z.int(),
  cachedTokens: z.int().describe('How many of the input tokens the provider read from its cache.'),
  costUsd: z.number(),
  estimated: z.boolean().describe('Whether the tokens are estimated, because the provider counted none.'),
  reading: answerReading
    .nullable()
    .describe(
      'What was made of an answer that ended no turn: `cut` at its longest, a `call-as-text`, `blank`, `oversized` where its workspace is too large to be captured, `notes` on earlier turns. After the first four the model was asked again.',
    ),
  errorCode: z.string().nullable(),
  startedAt: time,
  endedAt: time.nullable(),
});
export type ModelCallView = z.infer<typeof modelCallView>;
