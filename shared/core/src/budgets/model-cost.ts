import { estimatedTokens } from '@suzumio/protocol/estimated-tokens';
import type { ModelUsage } from '@suzumio/protocol/model-chat';
import type { Candidate, SinglePreset } from './presets.js';

/** What a call uses: tokens in and out together, and its price in billionths of a dollar. */
export interface Cost {
  tokens: number;
  nanoUsd: number;
}

/** Billionths of a dollar. Whole numbers, so that sums stay exact. */
export const nanoPerUsd = 1e9;

/** The longest answer that is asked for where the preset names none and a budget wants to know. */
export const defaultMaxOutputTokens = 8_192;

/** What an answer cost. A preset without a price costs nothing. */
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

/** The most that a call may come to, whichever of the candidates answers. */
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

/** An amount as people read it. */
export function dollars(nanoUsd: number): string {
  const usd = nanoUsd / nanoPerUsd;
  return `$${usd !== 0 && usd < 0.01 ? usd.toPrecision(2) : usd.toFixed(2)}`;
}
