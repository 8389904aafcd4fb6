import { type AskedSize, askedTokens, costOf } from '@suzumio/core/budgets/model-cost';
import type { Candidate } from '@suzumio/core/budgets/presets';
import { estimatedTokens } from '@suzumio/protocol/estimated-tokens';
import type { ModelUsage } from '@suzumio/protocol/model-chat';
import type { AnsweredBy } from '@suzumio/store/models/model-call-costs';
import type { ProviderAnswer } from './answer-builder.js';

/** The provider of an answer, and the usage: reported by the provider, or estimated. */
export function answeredBy(
  { preset, settings }: Candidate,
  provider: string,
  answer: ProviderAnswer,
  asked: AskedSize,
): AnsweredBy {
  const written = JSON.stringify([answer.text, answer.toolCalls, answer.attached]);
  const usage: ModelUsage = answer.usage ?? {
    inputTokens: askedTokens(settings, asked),
    outputTokens: estimatedTokens(Buffer.byteLength(written)),
  };
  return {
    preset,
    provider,
    model: answer.model ?? settings.model,
    cost: costOf(settings, usage),
    inputTokens: usage.inputTokens,
    outputTokens: usage.outputTokens,
    cachedTokens: usage.cachedTokens,
    estimated: answer.usage === undefined,
  };
}

/** The estimated usage of a request and part of its answer. */
export function costSoFar(
  candidate: Candidate | undefined,
  { asked, answerChars }: { asked: AskedSize; answerChars: number },
): Omit<AnsweredBy, 'provider'> {
  const settings = candidate?.settings ?? {};
  const usage = { inputTokens: askedTokens(settings, asked), outputTokens: estimatedTokens(answerChars) };
  return {
    preset: candidate?.preset ?? '',
    model: candidate?.settings.model ?? '',
    cost: costOf(settings, usage),
    ...usage,
    estimated: true,
  };
}
