import { z } from 'zod';
import type { SinglePreset } from '@suzumio/core/budgets/presets';
import type { ChatRequest } from '@suzumio/protocol/model-chat';

/** What a model is asked, in whatever format. */
export interface ModelRequest {
  readonly model: string;
  readonly messages: ChatRequest['messages'];
  readonly tools: NonNullable<ChatRequest['tools']>;
  readonly maxTokens: number | undefined;
  readonly settings: SinglePreset;
}

/**
 * A format in which providers answer. Whatever it is, an answer is read as pieces of one of Chat Completions, which are
 * put together in one place.
 */
export interface WireFormat {
  /** Where it is asked, below the provider's address. */
  readonly path: string;
  /**
   * Reads an answer that came at once.
   *
   * @throws ProviderFailure where it is none, or says why there is none
   */
  whole(body: unknown): WireChunk[];
  /** Begins to read a streamed answer: what it returns does with each event what `whole` does with all of it. */
  events(): (event: unknown) => WireChunk[];
}

// What providers send that speak Chat Completions. Only what is used is looked at, and servers differ: what is only
// counted or shown is taken as far as it can be read, and else as missing; what is carried out has to be what it should be.

/** A text that is said, or a name that is called. */
export const text = z.string().nullish();

/** What only describes an answer. */
export const label = z.string().nullish().catch(undefined);

/** A name that an answer gives to something of its own. */
export const givenId = z
  .union([z.string(), z.number().transform(String)])
  .nullish()
  .catch(undefined);

/** More than any model reads or writes: a greater count is no count. */
const maxTokens = 100_000_000;

/** Tokens that were counted. */
export const count = numeric(z.number().nonnegative().max(maxTokens));

/** A place in a list. */
export const place = numeric(z.int().nonnegative());

/** What is counted together. */
export const counts = <Shape extends z.ZodRawShape>(shape: Shape) => z.object(shape).nullish().catch(undefined);

/** A number, also where it is written as a text; undefined for whatever else there is. */
function numeric(number: z.ZodType<number, number>) {
  const written = z
    .string()
    .regex(/^\s*\d+(\.\d+)?\s*$/)
    .transform(Number)
    .pipe(number);
  return z.union([number, written]).nullish().catch(undefined);
}

const wireUsage = counts({
  prompt_tokens: count,
  completion_tokens: count,
  total_tokens: count,
  prompt_tokens_details: counts({ cached_tokens: count }),
  completion_tokens_details: counts({ reasoning_tokens: count }),
});
export type WireUsage = NonNullable<z.infer<typeof wireUsage>>;

/** Some servers send the arguments as the object that they should describe. */
export const wireArguments = z.union([z.string(), z.record(z.string(), z.unknown())]).nullish();

const wireFunction = z.object({ name: text, arguments: wireArguments }).nullish();
const wireToolCall = z.object({ index: place, id: givenId, function: wireFunction });
export type WireToolCall = z.infer<typeof wireToolCall>;

/** Some send what is said in parts, and what was thought among them, which is no part of an answer. */
const wireContent = z
  .union([
    z.string(),
    z
      .array(z.object({ type: z.string(), text }))
      .transform((parts) => parts.map((part) => (part.type === 'text' ? (part.text ?? '') : '')).join('')),
  ])
  .nullish();

const wireMessage = z.object({
  content: wireContent,
  refusal: text,
  tool_calls: z.array(wireToolCall).nullish(),
  /** What calls were before there could be several. */
  function_call: wireFunction,
});
export type WireMessage = z.infer<typeof wireMessage>;

/** An answer, or one piece of it: the former has a `message`, the latter a `delta`, and some servers know no difference. */
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
  /** Nothing follows that matters. */
  last?: true;
};
