import type { ChatMessage } from '@suzumio/protocol/model-chat';
import type { ModelRequest } from './wire-format.js';

/**
 * A question in the Responses format. Nothing of it is kept by the provider: each question tells the whole conversation,
 * as the journal has it.
 */
export function responsesBody({ model, messages, tools, maxTokens, settings }: ModelRequest) {
  const { temperature, topP, toolChoice, reasoningEffort } = settings;
  // What everything else stands under; where nothing else is, it has to be the question.
  const first = messages.findIndex(({ role }) => role !== 'system');
  const system = messages.slice(0, Math.max(0, first));
  return {
    model,
    ...(system.length === 0 ? {} : { instructions: system.map(textOf).join('\n\n') }),
    input: messages.slice(system.length).flatMap(itemsOf),
    ...(tools.length === 0
      ? {}
      : {
          // Strict unless it is said: then it takes only schemas that require every field.
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

/** A message, and the calls in it, which are items of their own there. */
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

/** Texts and images have other names there. */
function partOf(part: Part): object {
  if (part.type === 'text') return { type: 'input_text', text: part.text };
  const { url, detail = 'auto' } = part.image_url;
  return { type: 'input_image', image_url: url, detail };
}
