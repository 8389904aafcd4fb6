import { costOf } from '@suzumio/core/budgets/model-cost';
import type { Candidate } from '@suzumio/core/budgets/presets';
import { estimatedTokens } from '@suzumio/protocol/estimated-tokens';
import type { ModelAnswer } from '@suzumio/protocol/model-chat';
import type { AnsweredBy } from '@suzumio/store/models/model-call-costs';

/** Who gave an answer, and what it cost: by the provider's own counting, or by an estimate where it does not count. */
export function answeredBy(
  { preset, settings }: Candidate,
  provider: string,
  answer: ModelAnswer,
  askedBytes: number,
): AnsweredBy {
  const written = JSON.stringify([answer.text, answer.toolCalls]);
  const usage = answer.usage ?? {
    inputTokens: estimatedTokens(askedBytes),
    outputTokens: estimatedTokens(Buffer.byteLength(written)),
  };
  return {
    preset,
    provider,
    model: answer.model ?? settings.model,
    cost: costOf(settings, usage),
    inputTokens: usage.inputTokens,
    outputTokens: usage.outputTokens,
    estimated: answer.usage === undefined,
  };
}

/** What a question comes to with so much of its answer, for want of the provider's own counting. */
export function costSoFar(
  candidate: Candidate | undefined,
  { askedBytes, answerChars }: { askedBytes: number; answerChars: number },
): Omit<AnsweredBy, 'provider'> {
  const usage = { inputTokens: estimatedTokens(askedBytes), outputTokens: estimatedTokens(answerChars) };
  return {
    preset: candidate?.preset ?? '',
    model: candidate?.settings.model ?? '',
    cost: costOf(candidate?.settings ?? {}, usage),
    ...usage,
    estimated: true,
  };
}
