import { noAnswer, readAnswer } from './read-answer.js';
import { type ModelRequest, wireChunk, type WireFormat } from './wire.js';

/** The body of a Chat Completions request, with the fields that the server at an address accepts. */
export function chatBody(
  { model, messages, tools, maxTokens, settings }: ModelRequest,
  baseURL: string,
  streamUsage = true,
) {
  const { temperature, topP, toolChoice, reasoningEffort } = settings;
  return {
    model,
    messages,
    ...(tools.length === 0 ? {} : { tools, ...(toolChoice === undefined ? {} : { tool_choice: toolChoice }) }),
    ...(temperature === undefined ? {} : { temperature }),
    ...(topP === undefined ? {} : { top_p: topP }),
    ...(reasoningEffort === undefined ? {} : { reasoning_effort: reasoningEffort }),
    ...(maxTokens === undefined ? {} : { [maxTokensField(baseURL)]: maxTokens }),
    stream: true,
    ...(streamUsage ? { stream_options: { include_usage: true } } : {}),
  };
}

/** OpenAI's newer models refuse the older field, and most other servers know only that. */
function maxTokensField(baseURL: string): 'max_completion_tokens' | 'max_tokens' {
  return /(^|\.)openai\.com$|(^|\.)openai\.azure\.com$/.test(new URL(baseURL).hostname)
    ? 'max_completion_tokens'
    : 'max_tokens';
}

/** Chat Completions. Answers in other formats are translated to its chunks. */
export const chatFormat: WireFormat = {
  path: '/chat/completions',
  whole(body) {
    const chunk = readAnswer(wireChunk, body);
    if (!chunk.choices?.length) throw noAnswer(body);
    return [chunk];
  },
  events: () => (event) => [readAnswer(wireChunk, event)],
};
