import * as z from 'zod';
import type { SinglePreset } from '@suzumio/core/budgets/presets';
import type { ChatRequest } from '@suzumio/protocol/model-chat';
import type { Fields } from './attached.js';
import type { AskedMessage } from './asked-answers.js';

/** A request to a model, independent of the format. */
export interface ModelRequest {
  readonly model: string;
  readonly messages: readonly AskedMessage[];
  readonly tools: NonNullable<ChatRequest['tools']>;
  readonly maxTokens: number | undefined;
  readonly settings: SinglePreset;
}

/**
 * A provider's wire format. Every answer is translated to chunks of Chat Completions, which are assembled in one place.
 */
export interface WireFormat {
  /** The path below the provider's address. */
  readonly path: string;
  /**
   * Reads an answer without streaming.
   *
   * @throws ProviderFailure where it is no answer or reports an error
   */
  whole(body: unknown): WireChunk[];
  /** Begins to read a streamed answer: the returned function translates one event as `whole` does a body. */
  events(): (event: unknown) => WireChunk[];
}

// Chat Completions as providers send them, as far as they are used. Servers differ: fields that are only counted or
// shown are read leniently, and missing where they cannot be; fields that are acted on must be valid.

/** The text of an answer, or the name of a function. */
export const text = z.string().nullish();

/** A field that only describes an answer. */
export const label = z.string().nullish().catch(undefined);

/** An id within an answer. */
export const givenId = z
  .union([z.string(), z.number().transform(String)])
  .nullish()
  .catch(undefined);

/** More tokens than any model handles: a greater count is ignored. */
const maxTokens = 100_000_000;

/** A count of tokens. */
export const count = numeric(z.number().nonnegative().max(maxTokens));

/** An index in a list. */
export const place = numeric(z.int().nonnegative());

/** An object of counts. */
export const counts = <Shape extends z.ZodRawShape>(shape: Shape) => z.object(shape).nullish().catch(undefined);

/** A number, or a string with one; undefined for anything else. */
function numeric(number: z.ZodType<number, number>) {
  const written = z
    .string()
    .regex(/^\s*\d+(\.\d+)?\s*$/)
    .transform(Number)
    .pipe(number);
  return z.union([number, written]).nullish().catch(undefined);
}

/** Servers name what they read from a cache, and write to it, in several ways. */
const cacheCounts = {
  cached_tokens: count,
  cache_read_input_tokens: count,
  prompt_cache_hit_tokens: count,
  cache_write_tokens: count,
  cache_creation_tokens: count,
  cache_creation_input_tokens: count,
};

/** The counts of a question's tokens, by what became of them. */
export const inputDetails = counts(cacheCounts);

const wireUsage = counts({
  ...cacheCounts,
  prompt_tokens: count,
  completion_tokens: count,
  total_tokens: count,
  prompt_tokens_details: inputDetails,
  completion_tokens_details: counts({ reasoning_tokens: count }),
});
export type WireUsage = NonNullable<z.infer<typeof wireUsage>>;

/** Some servers send the arguments as an object instead of JSON text. */
export const wireArguments = z.union([z.string(), z.record(z.string(), z.unknown())]).nullish();

// Loose: what a provider attaches is among the other fields (attached.ts).
const wireFunction = z.looseObject({ name: text, arguments: wireArguments }).nullish();
const wireToolCall = z.looseObject({ index: place, id: givenId, function: wireFunction });
export type WireToolCall = z.infer<typeof wireToolCall>;

/** Some servers send content in parts, reasoning among them, which is no part of an answer. */
const wireContent = z
  .union([
    z.string(),
    z
      .array(z.object({ type: z.string(), text }))
      .transform((parts) => parts.map((part) => (part.type === 'text' ? (part.text ?? '') : '')).join('')),
  ])
  .nullish();

const wireMessage = z.looseObject({
  content: wireContent,
  refusal: text,
  tool_calls: z.array(wireToolCall).nullish(),
  /** The older form, before parallel calls. */
  function_call: wireFunction,
});
export type WireMessage = z.infer<typeof wireMessage>;

/** An answer, or one chunk of it: the former has a `message`, the latter a `delta`, but some servers confuse them. */
export const wireChunk = z.object({
  model: label,
  choices: z
    .array(
      z.object({ index: place, delta: wireMessage.nullish(), message: wireMessage.nullish(), finish_reason: label }),
    )
    .nullish(),
  usage: wireUsage,
});
export type WireChunk = z.infer<typeof wireChunk> & {
  /** An item of the Responses format: what of it has to come back. */
  item?: { index: number; type: string; fields: Fields };
  /** Nothing relevant follows. */
  last?: true;
};
