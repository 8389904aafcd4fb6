import type { AskedMessage } from './asked-answers.js';
import { noAnswer, readAnswer } from './read-answer.js';
import type { MaxTokensField } from '@suzumio/contract/model/models-config';
import { withSystemRole } from './system-role.js';
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
    messages: withSystemRole(messages, settings.systemRole).map(wireMessageOf),
    ...(tools.length === 0 ? {} : { tools, ...(toolChoice === undefined ? {} : { tool_choice: toolChoice }) }),
    ...(temperature === undefined ? {} : { temperature }),
    ...(topP === undefined ? {} : { top_p: topP }),
    ...(reasoningEffort === undefined ? {} : { reasoning_effort: reasoningEffort }),
    ...(maxTokens === undefined ? {} : { [settings.maxTokensField ?? ownMaxTokensField(baseURL)]: maxTokens }),
    stream: true,
    ...(streamUsage ? { stream_options: { include_usage: true } } : {}),
  };
}

/** A message as it is sent: what was attached to an answer stands where it came. */
function wireMessageOf(message: AskedMessage): object {
  if (message.role !== 'assistant') return message;
  const { attached, tool_calls: calls, role, content } = message;
  const toCalls = new Map((attached?.calls ?? []).map((call) => [call.id, call]));
  return {
    role,
    content,
    ...attached?.message,
    ...(calls
      ? {
          tool_calls: calls.map((call) => {
            const toCall = toCalls.get(call.id);
            return { ...call, ...toCall?.call, function: { ...call.function, ...toCall?.function } };
          }),
        }
      : {}),
  };
}

/** OpenAI's newer models refuse the older field, and most other servers know only that. */
export function ownMaxTokensField(baseURL: string): MaxTokensField {
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
