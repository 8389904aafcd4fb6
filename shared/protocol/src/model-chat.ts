import * as z from 'zod';
import { isShallow, tooDeep } from './nesting.js';

/**
 * The protocol between runner and model gateway: the part of OpenAI's Chat Completions that Suzumio uses, and the form
 * of a journaled answer.
 */

/** The path of model calls, below a runner's `controllerUrl`. */
export const chatPath = '/v1/chat/completions';

/** The path of the list of models that a runner may call. */
export const modelsPath = '/v1/models';

/** The header in which a runner names a call's step. Without it the step is the call's number. */
export const stepHeader = 'x-suzumio-step';

/** The header in which a runner names a call's purpose: the turn itself, or notes on turns that are no longer shown. */
export const purposeHeader = 'x-suzumio-purpose';
export const chatPurpose = z.enum(['turn', 'summary']);
export type ChatPurpose = z.infer<typeof chatPurpose>;

/**
 * The header in which a worker's door says why it could not capture the workspace before a question or a call, as far as the
 * model can mend it. The value is URI-encoded: it names directories of the agent's.
 */
export const uncapturedHeader = 'x-suzumio-uncaptured';
/** The longest of its texts, in UTF-16 code units, before it is encoded. */
export const maxUncapturedChars = 2_000;

/** The largest request for an answer. */
export const maxChatBytes = 16 * 1024 * 1024;

/** A tool call in a model's answer. `arguments` is what the model wrote: JSON, or meant to be. */
export const modelToolCall = z.object({ id: z.string().min(1), name: z.string(), arguments: z.string() });
export type ModelToolCall = z.infer<typeof modelToolCall>;

/**
 * Tokens as counted by the provider. `cachedTokens`, read from its cache, and `cacheWriteTokens` are part of `inputTokens`,
 * `reasoningTokens` of `outputTokens`.
 */
export const modelUsage = z.object({
  inputTokens: z.int().nonnegative(),
  outputTokens: z.int().nonnegative(),
  cachedTokens: z.int().nonnegative().optional(),
  cacheWriteTokens: z.int().nonnegative().optional(),
  reasoningTokens: z.int().nonnegative().optional(),
});
export type ModelUsage = z.infer<typeof modelUsage>;

/** A complete answer of a model. */
export const modelAnswer = z.object({
  text: z.string(),
  refusal: z.string().optional(),
  toolCalls: z.array(modelToolCall),
  /** The provider's finish reason; null where it sent none. */
  finishReason: z.string().nullable(),
  /** Absent where the provider did not count. */
  usage: modelUsage.optional(),
  /** The model's name in the provider's answer. */
  model: z.string().optional(),
});
export type ModelAnswer = z.infer<typeof modelAnswer>;

/**
 * The answer that a message repeats. What its provider attached stays with the gateway, which sends it back with the
 * message, to that provider alone. It is no part of what is asked: the hash of a question leaves it out.
 */
export const answerReference = z.object({
  answer: z.string().min(1).max(80),
  /** How much was attached, in bytes of JSON. Absent where nothing was, and where it was left out to make room. */
  attachedBytes: z.int().positive().optional(),
});
export type AnswerReference = z.infer<typeof answerReference>;

/**
 * What a runner made of an answer that ended no turn. It is kept with the answer, and a later attempt makes the same of it, by
 * whatever rules it would read it then.
 *
 * - `cut`: it was cut at its longest
 * - `call-as-text`: it is a call in a form that is not carried out
 * - `blank`: it says nothing, and no call has succeeded
 * - `oversized`: the workspace is too large to be captured, so the turn cannot end
 * - `notes`: notes, without the thoughts before them
 */
export const answerReading = z.enum(['cut', 'call-as-text', 'blank', 'oversized', 'notes']);
export type AnswerReading = z.infer<typeof answerReading>;

/** The newest answer that a runner has read, and what it made of it. */
export const readAnswer = z.object({ answer: answerReference.shape.answer, reading: answerReading });
export type ReadAnswer = z.infer<typeof readAnswer>;

const imageAddress = /^(?:data:image\/(?:png|jpe?g|gif|webp);base64,[A-Za-z0-9+/]+={0,2}|\/content\/[0-9a-f]{64})$/;
const nothingFetched = 'no address is fetched for a runner';
const expectedContent = `expected a text, or parts of type text, or of type image_url whose url is "/content/<sha256>" of an image that a call of this turn has shown, or "data:image/…;base64,…" (png, jpeg, gif, webp): ${nothingFetched}`;

/**
 * A text, or an image: inline, or by the place of its content. Other URLs are refused: providers fetch them, which would
 * be a way out of the container.
 */
const contentPart = z.discriminatedUnion('type', [
  z.object({ type: z.literal('text'), text: z.string() }),
  z.object({
    type: z.literal('image_url'),
    image_url: z.object({
      url: z.string().regex(imageAddress, expectedContent),
      detail: z.enum(['auto', 'low', 'high']).optional(),
    }),
  }),
]);
const content = z
  .union([z.string(), z.array(contentPart).max(1_000)], { error: expectedContent })
  .nullable()
  .optional();

/** A message of a conversation, in the provider's format; unknown fields are dropped. */
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
    suzumio: answerReference.optional(),
  }),
  z.object({ role: z.literal('tool'), tool_call_id: z.string(), content }),
]);
export type ChatMessage = z.infer<typeof chatMessage>;

/** What an answer is as a runner gets it. */
export interface ReceivedAnswer extends ModelAnswer {
  reference?: AnswerReference;
  /** What was made of it before; null where nothing was, undefined where that is not known. */
  reading?: AnswerReading | null | undefined;
}

/** Whether a schema consists of a reference to itself. */
export function refersToItself(schema: object): boolean {
  return !/"\$(ref|dynamicRef|recursiveRef)":(?!"#)/.test(JSON.stringify(schema));
}

/** A runner's request. The preset decides the model's settings, and other fields are ignored. */
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
  /** What was made of the newest answer: no part of what is asked. */
  suzumio: readAnswer.optional().catch(undefined),
  max_completion_tokens: z.int().positive().optional(),
  max_tokens: z.int().positive().optional(),
});
export type ChatRequest = z.infer<typeof chatRequest>;
