import * as z from 'zod';
import { sendsReasoning } from '@suzumio/core/budgets/known-reasoning';
import type { ChatMessage } from '@suzumio/protocol/model-chat';
import type { AskedMessage } from './asked-answers.js';
import type { Fields } from './attached.js';
import { field } from './error-words.js';
import { failureWithin, ProviderFailure } from './provider-failure.js';
import { withSystemRole } from './system-role.js';
import { noAnswer, readAnswer } from './read-answer.js';
import {
  count,
  counts,
  givenId,
  inputDetails,
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
  const role = settings.systemRole ?? 'system';
  const first = role === 'system' ? messages.findIndex((message) => message.role !== 'system') : 0;
  const system = messages.slice(0, Math.max(0, first));
  return {
    model,
    ...(system.length === 0 ? {} : { instructions: system.map(textOf).join('\n\n') }),
    input: withSystemRole(messages.slice(system.length), role).flatMap(itemsOf),
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
    ...(maxTokens === undefined ? {} : { [settings.maxTokensField ?? 'max_output_tokens']: maxTokens }),
    store: false,
    // Without it thoughts are names of what the provider has not stored.
    ...(sendsReasoning(settings) ? { include: ['reasoning.encrypted_content'] } : {}),
    stream: true,
  };
}

/** A message's items: in this format, calls are items of their own, and so are the thoughts that come back. */
function itemsOf(message: AskedMessage): object[] {
  if (message.role === 'tool') {
    return [{ type: 'function_call_output', call_id: message.tool_call_id, output: textOf(message) }];
  }
  if (message.role !== 'assistant') {
    const { role, content } = message;
    return [{ role, content: Array.isArray(content) ? content.map(partOf) : (content ?? '') }];
  }
  let text = textOf(message);
  const calls = new Map((message.tool_calls ?? []).map((call) => [call.id, call]));
  const said = (fields: Fields = {}): object[] => {
    const content = text;
    text = '';
    return content === '' ? [] : [answerItem(content, fields)];
  };
  const called = (id: string, fields: Fields = {}): object[] => {
    const made = calls.get(id)?.function;
    calls.delete(id);
    return made ? [{ type: 'function_call', ...fields, call_id: id, name: made.name, arguments: made.arguments }] : [];
  };
  const attached = (message.attached?.items ?? []).flatMap((item) => {
    if (item.type === 'reasoning') return [{ type: 'reasoning', ...item.fields }];
    return item.type === 'message' ? said(item.fields) : called(item.call, item.fields);
  });
  return [...attached, ...said(), ...[...calls.keys()].flatMap((id) => called(id))];
}

/** What a model has said. With an id it is the item that it was. */
function answerItem(text: string, { id, ...fields }: Fields): object {
  if (id === undefined) return { role: 'assistant', content: text, ...fields };
  const content = [{ type: 'output_text', text, annotations: [] }];
  return { type: 'message', id, role: 'assistant', status: 'completed', content, ...fields };
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

const itemFields = z.object({
  type: z.string(),
  id: givenId,
  call_id: givenId,
  name: text,
  arguments: wireArguments,
  content: z.array(z.object({ type: z.string(), text, refusal: text })).nullish(),
  phase: label,
  /** A reasoning item as it came. */
  reasoning: z.unknown().optional(),
});
const item = z.preprocess((sent) => {
  if (field(sent, 'type') !== 'reasoning') return sent;
  return { type: 'reasoning', id: field(sent, 'id'), reasoning: sent };
}, itemFields);
type Item = z.infer<typeof itemFields>;

const wireResponse = z.object({
  status: label,
  model: label,
  output: z.array(item).nullish(),
  error: z.unknown().optional(),
  incomplete_details: counts({ reason: label }),
  usage: counts({
    input_tokens: count,
    output_tokens: count,
    input_tokens_details: inputDetails,
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
        return [...this.#finish(data.item, data.output_index), ...attachedIn(data.item, data.output_index)];
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
    const rest = (output ?? []).flatMap((one, index) => [...this.#finish(one, index), ...attachedIn(one, index)]);
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

/** Which of an item has to come back. Thoughts that are not there are only names, of what the provider has not stored. */
function attachedIn({ type, id, phase, reasoning }: Item, index: number): WireChunk[] {
  const named = { ...(id ? { id } : {}), ...(type === 'message' && phase ? { phase } : {}) };
  if (type !== 'reasoning') return [{ item: { index, type, fields: named } }];
  const [summary, content, sealed] = ['summary', 'content', 'encrypted_content'].map((name) => field(reasoning, name));
  const hasContent = Array.isArray(content) && content.length > 0;
  if (!hasContent && (typeof sealed !== 'string' || sealed === '')) return [];
  const fields = {
    ...named,
    summary: Array.isArray(summary) ? (summary as unknown[]) : [],
    ...(hasContent ? { content } : {}),
    ...(typeof sealed === 'string' && sealed !== '' ? { encrypted_content: sealed } : {}),
  };
  return [{ item: { index, type, fields } }];
}

const piece = (delta: WireMessage): WireChunk => ({ choices: [{ index: 0, delta }] });

function call(
  index: number,
  called: { name?: Item['name']; arguments?: Item['arguments'] },
  id?: string | null,
): WireChunk {
  return piece({ tool_calls: [{ index, id, function: called }] });
}
