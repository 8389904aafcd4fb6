import { expect, test } from '@jest/globals';
import { sendsReasoning } from '@suzumio/core/budgets/known-reasoning';

test.each<[string, boolean]>([
  ['gpt-4o-mini', false],
  ['openai/gpt-4.1', false],
  ['gpt-3.5-turbo', false],
  ['chatgpt-4o-latest', false],
  ['gpt-5.1-chat-latest', false],
  ['gpt-5.1', true],
  ['gpt-5.1-codex-mini', true],
  ['o3', true],
  ['gpt-oss-20b', true],
  ['whatever', true],
])('%s is asked for its reasoning: %s', (model, expected) => {
  expect(sendsReasoning({ model })).toBe(expected);
  expect(sendsReasoning({ model, sendReasoning: !expected })).toBe(!expected);
});
