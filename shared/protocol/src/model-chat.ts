import * as z from 'zod';
import { isShallow, tooDeep } from './nesting.js';

/**
 * What runner and model gateway say to each other: the part of OpenAI's Chat Completions that Suzumio uses, and the form
 * in which an answer is journaled.
 */

/** Where a runner asks a model, below its `controllerUrl`. */
export const chatPath = '/v1/chat/completions';

/** Where it sees which models it may ask, in the same format. */
export const modelsPath = '/v1/models';

/** The header in which a runner names the step that it asks for. Without it the call's place is its number. */
export const stepHeader = 'x-suzumio-step';

/** The header in which a runner says what an answer is for: the turn itself, or notes on turns that are no longer told. */
export const purposeHeader = 'x-suzumio-purpose';
export const chatPurpose = z.enum(['turn', 'summary']);
export type ChatPurpose = z.infer<typeof chatPurpose>;

/** The largest request for an answer. */
export const maxChatBytes = 16 * 1024 * 1024;

/** One call of a tool in a model's answer. `arguments` is what the model wrote: JSON, or meant to be. */
export const modelToolCall = z.object({ id: z.string().min(1), name: z.string(), arguments: z.string() });
export type ModelToolCall = z.infer<typeof modelToolCall>;

/** Tokens as the provider counted them. `cachedTokens` are a part of `inputTokens`, `reasoningTokens` of `outputTokens`. */
export const modelUsage = z.object({
  inputTokens: z.int().nonnegative(),
  outputTokens: z.int().nonnegative(),
  cachedTokens: z.int().nonnegative().optional(),
  reasoningTokens: z.int().nonnegative().optional(),
});
export type ModelUsage = z.infer<typeof modelUsage>;

/** A whole answer of a model. */
export const modelAnswer = z.object({
  text: z.string(),
  refusal: z.string().optional(),
  toolCalls: z.array(modelToolCall),
  /** As the provider said it; null where it never did. */
  finishReason: z.string().nullable(),
  /** Absent where the provider counted nothing. */
  usage: modelUsage.optional(),
  /** The model's name as the provider gave it. */
  model: z.string().optional(),
});
export type ModelAnswer = z.infer<typeof modelAnswer>;

const nothingFetched = 'no address is fetched for a runner';
const expectedContent = `expected a text, or parts of type text, or of type image_url whose url is "data:image/…;base64,…" (png, jpeg, gif, webp): ${nothingFetched}`;

/** A text, or an image that is there as it is. Providers fetch what they are given an address of: a container's way out. */
const contentPart = z.discriminatedUnion('type', [
  z.object({ type: z.literal('text'), text: z.string() }),
  z.object({
    type: z.literal('image_url'),
    image_url: z.object({
      url: z.string().regex(/^data:image\/(png|jpe?g|gif|webp);base64,[A-Za-z0-9+/]+={0,2}$/, expectedContent),
      detail: z.enum(['auto', 'low', 'high']).optional(),
    }),
  }),
]);
const content = z
  .union([z.string(), z.array(contentPart).max(1_000)], { error: expectedContent })
  .nullable()
  .optional();

/** A message of a conversation, in the provider's own words; fields that are not known here go no further. */
export const chatMessage = z.discriminatedUnion('role', [
  z.object({ role: z.enum(['system', 'developer', 'user']), content }),
  z.object({
    role: z.literal('assistant'),
    content,
    tool_calls: z
      .array(
        z.object({
          id: z.string(),
          type: z.literal('function').default('function'),
          function: z.object({ name: z.string(), arguments: z.string() }),
        }),
      )
      .max(1_000)
      .optional(),
  }),
  z.object({ role: z.literal('tool'), tool_call_id: z.string(), content }),
]);
export type ChatMessage = z.infer<typeof chatMessage>;

/** Whether a schema is described by itself alone. */
function refersToItself(schema: object): boolean {
  return !/"\$(ref|dynamicRef|recursiveRef)":(?!"#)/.test(JSON.stringify(schema));
}

/** What a runner may ask; how the model is set is the preset's business, and whatever else is sent is ignored. */
export const chatRequest = z.object({
  /** A preset of the project file; absent or `default` is the agent's own. */
  model: z.string().max(120).optional(),
  messages: z.array(chatMessage).min(1).max(20_000),
  tools: z
    .array(
      z.object({
        type: z.literal('function'),
        function: z.object({
          name: z.string().regex(/^[\w-]{1,64}$/),
          description: z.string().optional(),
          parameters: z
            .record(z.string(), z.unknown())
            .refine(isShallow, { error: `expected ${tooDeep}`, abort: true })
            .refine(refersToItself, `expected "$ref" to begin with #: ${nothingFetched}`)
            .optional(),
        }),
      }),
    )
    .max(256)
    .optional(),
  stream: z.boolean().default(false),
  max_completion_tokens: z.int().positive().optional(),
  max_tokens: z.int().positive().optional(),
});
export type ChatRequest = z.infer<typeof chatRequest>;
