import { expect, test } from '@jest/globals';
import { type HandlerClaimAnswer, type HandlerSelf, handlersProtocol } from '../../shared/protocol/src/handlers.js';
import type { HeartbeatAnswer } from '../../shared/protocol/src/attempts.js';
import { runnerTurnOutput, type ToolResponse } from '../../shared/protocol/src/runner.js';
import * as wire from '../src/wire.js';

/** Compiles only where what the ToolHost answers is what this package reads. */
const reads = {
  self: (answer: HandlerSelf): wire.Self => answer,
  claim: (answer: HandlerClaimAnswer): wire.ClaimAnswer => answer,
  heartbeat: (answer: HeartbeatAnswer): wire.HeartbeatAnswer => answer,
  tool: ({ output, metadata = {} }: ToolResponse): wire.ToolResponse => ({ output, metadata }),
};

test('the package reads what the ToolHost answers', () => {
  expect(Object.keys(reads)).toHaveLength(4);
  expect(wire.handlersProtocol).toBe(handlersProtocol);
  const fits = (length: number) => runnerTurnOutput.safeParse({ text: 'x'.repeat(length) }).success;
  expect([fits(wire.maxTextLength), fits(wire.maxTextLength + 1)]).toEqual([true, false]);
});
