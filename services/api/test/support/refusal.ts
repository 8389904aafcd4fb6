import { expect } from '@jest/globals';
import { problem } from '@suzumio/protocol/problem';
import type { Answer } from './api.js';

/** What a refusal says, once it is seen to be a problem document. */
export function refusal(answer: Answer): { status: number; code: string; detail: string } {
  expect(answer.headers['content-type']).toMatch(/^application\/problem\+json/);
  const { status, code, detail } = problem.parse(answer.json);
  expect(status).toBe(answer.status);
  return { status, code, detail };
}
