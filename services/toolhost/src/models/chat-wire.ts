import { z } from 'zod';

// What providers send that speak Chat Completions. Only what is used is looked at, and servers differ: whatever may be
// missing or null is taken so.

export const text = z.string().nullish();
export const count = z.number().nonnegative().nullish();

const wireUsage = z.object({
  prompt_tokens: count,
  completion_tokens: count,
  total_tokens: count,
  prompt_tokens_details: z.object({ cached_tokens: count }).nullish(),
  completion_tokens_details: z.object({ reasoning_tokens: count }).nullish(),
});
export type WireUsage = z.infer<typeof wireUsage>;

/** Some servers send the arguments as the object that they should describe. */
export const wireArguments = z.union([z.string(), z.record(z.string(), z.unknown())]).nullish();

const wireToolCall = z.object({
  index: z.int().nonnegative().nullish(),
  id: text,
  function: z.object({ name: text, arguments: wireArguments }).nullish(),
});
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

const wireMessage = z.object({ content: wireContent, refusal: text, tool_calls: z.array(wireToolCall).nullish() });
export type WireMessage = z.infer<typeof wireMessage>;

/** A whole answer. */
export const wireCompletion = z.object({
  model: text,
  choices: z.array(z.object({ message: wireMessage, finish_reason: text })).min(1),
  usage: wireUsage.nullish(),
});

/** One piece of a streamed answer. */
export const wireChunk = z.object({
  object: text,
  model: text,
  choices: z.array(z.object({ index: z.int().nullish(), delta: wireMessage.nullish(), finish_reason: text })).nullish(),
  usage: wireUsage.nullish(),
  error: z.unknown().optional(),
});
export type WireChunk = z.infer<typeof wireChunk> & {
  /** Nothing follows that matters. */
  last?: true;
};
