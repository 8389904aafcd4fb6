import { describe, expect, test } from '@jest/globals';
import { imageFactor, seesImages } from '@suzumio/core/budgets/known-vision';
import { worstCost } from '@suzumio/core/budgets/model-cost';
import type { Candidate } from '@suzumio/core/budgets/presets';

describe('whether a model sees', () => {
  test.each([
    'gpt-4o',
    'gpt-4o-mini-2024-07-18',
    'gpt-4.1-nano',
    'gpt-5',
    'openai/gpt-5.1',
    'o1',
    'o3-pro',
    'o4-mini',
    'claude-3-5-sonnet-latest',
    'claude-sonnet-4-5',
    'anthropic/claude-opus-4',
    'gemini-2.5-flash',
    'google/gemma-3-27b-it',
    'gemma3:12b',
    'qwen2.5vl:7b',
    'Qwen/Qwen2.5-VL-72B-Instruct',
    'qwen3-vl:8b',
    'pixtral-12b',
    'llama3.2-vision:11b',
    'llama-4-scout',
    'llava:13b',
    'grok-4',
  ])('%s does', (model) => {
    expect(seesImages({ model })).toBe(true);
    expect(seesImages({ model, vision: false })).toBe(false);
  });

  test.each([
    'gpt-3.5-turbo',
    'gpt-4',
    'gpt-4o-audio-preview',
    'gpt-4o-mini-transcribe',
    'o1-mini',
    'o1-preview',
    'o3-mini',
    'claude-2.1',
    'gemini-1.0-pro',
    'gemma3:1b',
    'qwen3:8b',
    'deepseek-chat',
    'llama3.2:3b',
    'mistral-large-latest',
    'scripted-1',
    '',
  ])('%j does not, as far as is known', (model) => {
    expect(seesImages({ model })).toBe(false);
    expect(seesImages({ model, vision: true })).toBe(true);
  });

  test('is known by the name that its provider has for it', () => {
    expect(seesImages({ model: 'the-quick-one', apiModel: 'gpt-4o' })).toBe(true);
    expect(seesImages({ model: 'gpt-4o', apiModel: 'deployment-7' })).toBe(false);
  });
});

test('a question reserves what its images may be counted as, of each of its models', () => {
  const candidate = (model: string): Candidate => ({
    preset: model,
    settings: { provider: 'p', model, maxOutputTokens: 10, price: { input: 1, output: 0 } },
    provider: { type: 'openai-compatible', baseURL: 'http://127.0.0.1:1' },
  });
  const asked = {
    bytes: 300,
    images: [
      { width: 640, height: 480 },
      { width: 10, height: 10 },
    ],
  };
  expect(worstCost([candidate('gpt-4o')], asked)).toEqual({ tokens: 100 + 768 + 300 + 10, nanoUsd: 1_168_000 });
  expect(imageFactor({ model: 'gpt-4o-mini' })).toBe(34);
  expect(worstCost([candidate('gpt-4o'), candidate('gpt-4o-mini')], asked).tokens).toBe(100 + 34 * 1_068 + 10);
});
