import * as z from 'zod';
import type { ChatMessage } from '@suzumio/protocol/model-chat';
import { failureWithin, ProviderFailure } from './provider-failure.js';
import { noAnswer, readAnswer } from './read-answer.js';
import {
  count,
  counts,
  givenId,
  label,
  type ModelRequest,
  place,
  text,
  type WireChunk,
  type WireFormat,
  type WireMessage,
  wireArguments,
} from './wire.js';

/**
 * The body of a Responses request. The provider stores nothing: each request contains the whole conversation, as in the
 * journal.
 */
export function responsesBody({ model, messages, tools, maxTokens, settings }: ModelRequest) {
  const { temperature, topP, toolChoice, reasoningEffort } = settings;
  // The instructions; where there are no other messages, they have to be the input.
  const first = messages.findIndex(({ role }) => role !== 'system');
  const system = messages.slice(0, Math.max(0, first));
  return {
    model,
    ...(system.length === 0 ? {} : { instructions: system.map(textOf).join('\n\n') }),
    input: messages.slice(system.length).flatMap(itemsOf),
    ...(tools.length === 0
      ? {}
      : {
          // Strict is the API's default, which accepts only schemas that require every field.
          tools: tools.map(({ function: { name, description, parameters } }) => ({
            type: 'function',
            name,
            ...(description === undefined ? {} : { description }),
            parameters: parameters ?? { type: 'object', properties: {} },
            strict: false,
          })),
          ...(toolChoice === undefined ? {} : { tool_choice: toolChoice }),
        }),
    ...(temperature === undefined ? {} : { temperature }),
    ...(topP === undefined ? {} : { top_p: topP }),
    ...(reasoningEffort === undefined ? {} : { reasoning: { effort: reasoningEffort } }),
    ...(maxTokens === undefined ? {} : { max_output_tokens: maxTokens }),
    store: false,
    stream: true,
  };
}

/** A message's items: in this format, calls are items of their own. */
function itemsOf(message: ChatMessage): object[] {
  if (message.role === 'tool') {
    return [{ type: 'function_call_output', call_id: message.tool_call_id, output: textOf(message) }];
  }
  if (message.role !== 'assistant') {
    const { role, content } = message;
    return [{ role, content: Array.isArray(content) ? content.map(partOf) : (content ?? '') }];
  }
  const text = textOf(message);
  return [
    ...(text === '' ? [] : [{ role: 'assistant', content: text }]),
    ...(message.tool_calls ?? []).map(({ id, function: { name, arguments: written } }) => ({
      type: 'function_call',
      call_id: id,
      name,
      arguments: written,
    })),
  ];
}

type Part = Exclude<ChatMessage['content'], string | null | undefined>[number];

function textOf({ content }: ChatMessage): string {
  if (!Array.isArray(content)) return content ?? '';
  return content.map((part) => (part.type === 'text' ? part.text : '')).join('');
}

/** A text or image part under its name in this format. */
function partOf(part: Part): object {
  if (part.type === 'text') return { type: 'input_text', text: part.text };
  const { url, detail = 'auto' } = part.image_url;
  return { type: 'input_image', image_url: url, detail };
}

// Responses of providers in the Responses format, as far as they are used: messages and calls among an answer's items,
// and events that extend or end one.

const item = z.object({
  type: z.string(),
  id: givenId,
  call_id: givenId,
  name: text,
  arguments: wireArguments,
  content: z.array(z.object({ type: z.string(), text, refusal: text })).nullish(),
});
type Item = z.infer<typeof item>;

const wireResponse = z.object({
  status: label,
  model: label,
  output: z.array(item).nullish(),
  error: z.unknown().optional(),
  incomplete_details: counts({ reason: label }),
  usage: counts({
    input_tokens: count,
    output_tokens: count,
    input_tokens_details: counts({ cached_tokens: count }),
    output_tokens_details: counts({ reasoning_tokens: count }),
  }),
});
type WireResponse = z.infer<typeof wireResponse>;

const where = { output_index: place.transform((index) => index ?? 0) };
const known = z.discriminatedUnion('type', [
  z.object({ type: z.enum(['response.output_item.added', 'response.output_item.done']), ...where, item }),
  z.object({
    type: z.enum(['response.output_text.delta', 'response.refusal.delta', 'response.function_call_arguments.delta']),
    ...where,
    delta: z.string(),
  }),
  z.object({ type: z.enum(['response.completed', 'response.incomplete', 'response.failed']), response: wireResponse }),
]);
const knownTypes = new Set(known.options.flatMap(({ shape }) => shape.type.options as readonly string[]));

export const responsesFormat: WireFormat = {
  path: '/responses',
  whole(body) {
    const response = readAnswer(wireResponse, body);
    if (!response.output) throw noAnswer(body);
    return new ResponseReader().end(response);
  },
  events() {
    const reader = new ResponseReader();
    return (event) => reader.read(event);
  },
};

/** Reads a streamed answer. What deltas left out is taken from events that repeat an item in full. */
class ResponseReader {
  /** Calls with a name, and items with content, by their index in the answer. */
  readonly #begun = new Set<number>();
  readonly #told = new Set<number>();
  #speaking: number | undefined;

  read(event: unknown): WireChunk[] {
    const { type } = readAnswer(z.object({ type: z.string() }), event);
    if (!knownTypes.has(type)) return [];
    const data = readAnswer(known, event);
    switch (data.type) {
      case 'response.output_item.added':
        return this.#begin(data.item, data.output_index);
      case 'response.output_item.done':
        return this.#finish(data.item, data.output_index);
      case 'response.output_text.delta':
        return [this.#text(data.delta, data.output_index)];
      case 'response.refusal.delta':
        this.#told.add(data.output_index);
        return [piece({ refusal: data.delta })];
      case 'response.function_call_arguments.delta':
        this.#told.add(data.output_index);
        return [call(data.output_index, { arguments: data.delta })];
      case 'response.completed':
      case 'response.incomplete':
      case 'response.failed':
        return this.end(data.response);
    }
  }

  /** The last chunk, after everything that earlier events lacked. */
  end({ status, model, output, error, incomplete_details: incomplete, usage }: WireResponse): WireChunk[] {
    if (status === 'failed' || error) throw failureWithin(error ?? {});
    if (status !== 'completed' && status !== 'incomplete' && status) {
      throw new ProviderFailure('unavailable', `the provider ended its answer as ${status}`);
    }
    const rest = (output ?? []).flatMap((one, index) => this.#finish(one, index));
    const cut = incomplete?.reason === 'content_filter' ? 'content_filter' : 'length';
    const ended = this.#begun.size > 0 ? 'tool_calls' : 'stop';
    const last: WireChunk = {
      model,
      choices: [{ index: 0, finish_reason: status === 'incomplete' ? cut : ended }],
      ...(usage
        ? {
            usage: {
              prompt_tokens: usage.input_tokens,
              completion_tokens: usage.output_tokens,
              prompt_tokens_details: usage.input_tokens_details,
              completion_tokens_details: usage.output_tokens_details,
            },
          }
        : {}),
      last: true,
    };
    return [...rest, last];
  }

  #begin({ type, call_id: callId, id, name }: Item, index: number): WireChunk[] {
    if (type !== 'function_call' || this.#begun.has(index)) return [];
    this.#begun.add(index);
    return [call(index, { name }, callId ?? id)];
  }

  #finish(one: Item, index: number): WireChunk[] {
    const begun = this.#begin(one, index);
    if (this.#told.has(index)) return begun;
    this.#told.add(index);
    if (one.type === 'function_call') return [...begun, call(index, { arguments: one.arguments })];
    if (one.type !== 'message') return begun;
    return (one.content ?? []).map(({ type, text: said, refusal }) =>
      type === 'refusal' ? piece({ refusal }) : this.#text(said ?? '', index),
    );
  }

  /** Messages of one answer are paragraphs of one text. */
  #text(said: string, index: number): WireChunk {
    const another = this.#speaking !== undefined && this.#speaking !== index;
    this.#speaking = index;
    this.#told.add(index);
    return piece({ content: another ? `\n\n${said}` : said });
  }
}

const piece = (delta: WireMessage): WireChunk => ({ choices: [{ index: 0, delta }] });

function call(
  index: number,
  called: { name?: Item['name']; arguments?: Item['arguments'] },
  id?: string | null,
): WireChunk {
  return piece({ tool_calls: [{ index, id, function: called }] });
}
