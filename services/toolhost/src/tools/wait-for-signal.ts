import * as z from 'zod';
import { coordinatorOf } from '@suzumio/core/mail/communication';
import { plainText } from '@suzumio/protocol/plain-text';
import { postMessage } from '@suzumio/store/mail/post-message';
import { name } from './message-fields.js';
import { defineTool } from './tool.js';

export const waitForSignal = defineTool({
  name: 'coordination.wait_for_signal',
  description:
    'End your turn because you can do nothing useful now. Mail wakes you again. Whoever coordinates is told, unless notifyPm is false.',
  input: z.strictObject({
    reason: plainText.max(2000).optional(),
    pm: name.optional().describe('The id of the agent that is told. Leave out for the one that coordinates.'),
    notifyPm: z.boolean().default(true),
  }),
  prepare:
    ({ reason, pm, notifyPm }) =>
    (tx, site) => {
      const manager = pm ?? coordinatorOf(tx.config);
      tx.emit({ type: 'agent.waiting', actor: site.agent, agent: site.agent, turn: site.turn, data: { reason } });
      const hasManager =
        tx.get('SELECT 1 FROM agents WHERE id = :id AND retired_version IS NULL', { id: manager }) !== undefined;
      if (notifyPm && hasManager && site.agent !== manager) {
        postMessage(tx, {
          sender: site.agent,
          recipient: manager,
          priority: 'P2',
          body: `${site.agent} waits for a signal${reason === undefined ? '.' : `: ${reason}`}`,
          actor: site.agent,
          turn: site.turn,
        });
      }
      return { output: 'You will be woken by mail. Your turn ends here.', endTurn: true };
    },
});
