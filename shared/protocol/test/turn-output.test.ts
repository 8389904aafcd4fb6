import { expect, test } from '@jest/globals';
import { runnerTurnOutput } from '@suzumio/protocol/runner';

test('usage is as a runner counts it, within what may be shown beside every turn', () => {
  const usage = { inputTokens: 812, model: 'quick-1', parts: [{ cached: 10 }] };
  expect(runnerTurnOutput.parse({ text: '', usage })).toEqual({ text: '', usage });
  const long = runnerTurnOutput.safeParse({ text: '', usage: { notes: 'x'.repeat(17_000) } });
  expect(long.error?.issues).toMatchObject([{ path: ['usage'], message: 'at most 16384 characters as JSON' }]);
});

test('usage nested without end is refused, and exhausts nothing', () => {
  const nested = JSON.parse(`{"usage":${'{"a":'.repeat(9_000)}1${'}'.repeat(9_000)}}`) as object;
  const { error } = runnerTurnOutput.safeParse({ text: '', ...nested });
  expect(error?.issues).toMatchObject([{ path: ['usage'] }]);
});
