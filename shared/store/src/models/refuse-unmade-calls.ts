import { callInput } from '@suzumio/protocol/call-input';
import { beginningOf } from '@suzumio/protocol/cut-text';
import { meantName } from '@suzumio/protocol/meant-calls';
import type { ModelToolCall } from '@suzumio/protocol/model-chat';
import { keptInput } from '../turns/kept-input.js';
import type { Tx } from '../sqlite/tx.js';
import { callRow } from './model-call-costs.js';
import { recordRefusal } from '../turns/refuse-tool-call.js';

/** The longest tool name that is kept as the model wrote it. */
const maxNameChars = 64;

/**
 * Records those calls of an answer that no runner can make: calls of tools that the model was not offered, and calls
 * whose input is not JSON. They never reach the ToolHost, so nothing else would record them.
 *
 * @param call the model call that was answered
 * @param offered the names of the tools that the model was offered
 */
export function refuseUnmadeCalls(
  tx: Tx,
  call: string,
  calls: readonly ModelToolCall[],
  offered: readonly string[],
): void {
  const row = callRow(tx, call);
  for (const [index, { name, arguments: written }] of calls.entries()) {
    const input = callInput(written);
    const refusal =
      meantName(name, offered) !== undefined
        ? 'fault' in input && { code: 'tool-input-invalid' as const, message: `The arguments are ${input.fault}.` }
        : { code: 'tool-unknown' as const, message: 'The model was told of no such tool.' };
    if (!refusal) continue;
    recordRefusal(
      tx,
      {
        agent: row.agent_id,
        turn: row.turn_id,
        attempt: row.attempt,
        tokenHash: '',
        step: `${row.step}.${String(index)}`,
        tool: beginningOf(name, maxNameChars).toWellFormed(),
        input: keptInput('input' in input ? input.input : written.toWellFormed()),
        requestHash: '',
      },
      refusal.code,
      refusal.message,
    );
  }
}
