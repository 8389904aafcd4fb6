import type { ChatCompletionChunk } from 'openai/resources/chat/completions';
import { HttpUnavailable } from '@suzumio/protocol/http-failures';
import {
  answerReading,
  answerReference,
  type ModelToolCall,
  type ModelUsage,
  type ReceivedAnswer,
} from '@suzumio/protocol/model-chat';

/**
 * Builds an answer from the gateway's chunks: text in parts, each call whole, usage in the last. The library's own
 * reader is not used, because it throws on many calls.
 *
 * @param onText receives the text as it comes
 * @throws HttpUnavailable where the last chunk is missing
 */
export async function readAnswer(
  pieces: AsyncIterable<ChatCompletionChunk>,
  onText: (text: string) => void,
): Promise<ReceivedAnswer> {
  const texts: string[] = [];
  const toolCalls: ModelToolCall[] = [];
  let refusal = '';
  let finishReason: string | null = null;
  let model = '';
  let used: ModelUsage | undefined;
  let extra: Pick<ReceivedAnswer, 'reference' | 'reading'> | undefined;
  for await (const { choices, usage, model: name } of pieces) {
    model ||= name;
    if (usage) used = { inputTokens: usage.prompt_tokens, outputTokens: usage.completion_tokens };
    const [choice] = choices;
    if (!choice) continue;
    finishReason = choice.finish_reason ?? finishReason;
    const { content, refusal: refused, tool_calls: calls = [] } = choice.delta;
    refusal += refused ?? '';
    extra ??= extraIn((choice.delta as { suzumio?: unknown }).suzumio);
    for (const { id = '', function: called } of calls) {
      toolCalls.push({ id, name: called?.name ?? '', arguments: called?.arguments ?? '' });
    }
    if (!content) continue;
    texts.push(content);
    onText(content);
  }
  if (!used) throw new HttpUnavailable('the answer ended in the middle');
  const text = texts.join('');
  return { text, ...(refusal === '' ? {} : { refusal }), toolCalls, finishReason, usage: used, model, ...extra };
}

/** By what an answer is referred to, and what was made of it before, as far as the gateway says so. */
function extraIn(sent: unknown): Pick<ReceivedAnswer, 'reference' | 'reading'> | undefined {
  const reference = answerReference.safeParse(sent).data;
  if (!reference) return undefined;
  const { reading } = sent as { reading?: unknown };
  return { reference, reading: answerReading.nullable().safeParse(reading).data };
}
