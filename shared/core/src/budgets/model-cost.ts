import { estimatedTokens } from '@suzumio/protocol/estimated-tokens';
import type { ModelUsage } from '@suzumio/protocol/model-chat';
import type { Candidate, SinglePreset } from './presets.js';

/** A call's usage: its tokens, in and out, and its cost in billionths of a dollar. */
export interface Cost {
  tokens: number;
  nanoUsd: number;
}

/** Costs are in billionths of a dollar: integers, so that sums stay exact. */
export const nanoPerUsd = 1e9;

/** The answer limit for calls under a budget whose preset sets none. */
export const defaultMaxOutputTokens = 8_192;

/** The cost of an answer; zero for a preset without a price. */
export function costOf(
  settings: Pick<SinglePreset, 'price'>,
  usage: Pick<ModelUsage, 'inputTokens' | 'outputTokens'>,
): Cost {
  const { input, output } = settings.price ?? { input: 0, output: 0 };
  // Prices are in dollars a million tokens.
  const perToken = nanoPerUsd / 1e6;
  return {
    tokens: usage.inputTokens + usage.outputTokens,
    nanoUsd: Math.ceil(usage.inputTokens * input * perToken + usage.outputTokens * output * perToken),
  };
}

/** The worst-case cost of a call, over all candidates. */
export function worstCost(candidates: readonly Candidate[], requestBytes: number): Cost {
  const costs = candidates.map(({ settings }) =>
    costOf(settings, {
      inputTokens: estimatedTokens(requestBytes),
      outputTokens: settings.maxOutputTokens ?? defaultMaxOutputTokens,
    }),
  );
  return {
    tokens: Math.max(0, ...costs.map(({ tokens }) => tokens)),
    nanoUsd: Math.max(0, ...costs.map(({ nanoUsd }) => nanoUsd)),
  };
}

/** An amount for people. */
export function dollars(nanoUsd: number): string {
  const usd = nanoUsd / nanoPerUsd;
  return `$${usd !== 0 && usd < 0.01 ? usd.toPrecision(2) : usd.toFixed(2)}`;
}
