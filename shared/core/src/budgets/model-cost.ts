import { estimatedTokens } from '@suzumio/protocol/estimated-tokens';
import { type ImageShape, imageTokens } from '@suzumio/protocol/images';
import type { ModelUsage } from '@suzumio/protocol/model-chat';
import { imageFactor } from './known-vision.js';
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
  { inputTokens, outputTokens, cachedTokens = 0, cacheWriteTokens = 0 }: ModelUsage,
): Cost {
  const { input, output, cached = input, cacheWrite = input } = settings.price ?? { input: 0, output: 0 };
  // Prices are in dollars a million tokens.
  const perToken = nanoPerUsd / 1e6;
  const usd =
    (inputTokens - cachedTokens - cacheWriteTokens) * input +
    cachedTokens * cached +
    cacheWriteTokens * cacheWrite +
    outputTokens * output;
  return { tokens: inputTokens + outputTokens, nanoUsd: Math.ceil(usd * perToken) };
}

/** The size of a question: its texts, in bytes of JSON, and its images. */
export interface AskedSize {
  readonly bytes: number;
  readonly images: readonly Pick<ImageShape, 'width' | 'height'>[];
}

/** The estimated tokens of a question to a model. */
export function askedTokens(settings: Partial<Pick<SinglePreset, 'model' | 'apiModel'>>, asked: AskedSize): number {
  const images = asked.images.reduce((sum, image) => sum + imageTokens(image), 0);
  return estimatedTokens(asked.bytes) + images * imageFactor(settings);
}

/** The worst-case cost of a call, over all candidates. */
export function worstCost(candidates: readonly Candidate[], asked: AskedSize): Cost {
  const costs = candidates.map(({ settings }) => {
    const { input, cached = 0, cacheWrite = 0, output } = settings.price ?? { input: 0, output: 0 };
    return costOf(
      { price: { input: Math.max(input, cached, cacheWrite), output } },
      {
        inputTokens: askedTokens(settings, asked),
        outputTokens: settings.maxOutputTokens ?? defaultMaxOutputTokens,
      },
    );
  });
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
