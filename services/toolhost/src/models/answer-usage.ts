import type { ModelUsage } from '@suzumio/protocol/model-chat';
import type { WireUsage } from './chat-wire.js';

/** What a server has counted; undefined where that is nothing. What was thought is a part of what was written, and paid for. */
export function usageOf(usage: WireUsage): ModelUsage | undefined {
  const input = usage.prompt_tokens ?? 0;
  const written = usage.completion_tokens ?? 0;
  const total = usage.total_tokens ?? 0;
  const cached = usage.prompt_tokens_details?.cached_tokens;
  const reasoning = usage.completion_tokens_details?.reasoning_tokens;
  if (input === 0 && written === 0) return undefined;
  // Some count it beside, which shows in the total, or in that it is more than all that was written.
  const beside = reasoning && reasoning > written ? reasoning : 0;
  return {
    inputTokens: Math.ceil(input),
    outputTokens: Math.ceil(Math.max(total - input, written + beside)),
    ...(typeof cached === 'number' ? { cachedTokens: Math.ceil(cached) } : {}),
    ...(typeof reasoning === 'number' ? { reasoningTokens: Math.ceil(reasoning) } : {}),
  };
}
