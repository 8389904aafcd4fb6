import * as z from 'zod';
import { plainText } from '@suzumio/protocol/plain-text';
import { postMessage } from '@suzumio/store/mail/post-message';
import { defineTool } from './tool.js';

const projectManager = 'pm';

export const waitForSignal = defineTool({
  name: 'coordination.wait_for_signal',
  description:
    'End your turn because you can do nothing useful now. Mail wakes you again. The agent "pm" is told, unless notifyPm is false.',
  input: z.strictObject({ reason: plainText.max(2000).optional(), notifyPm: z.boolean().default(true) }),
  prepare:
    ({ reason, notifyPm }) =>
    (tx, site) => {
      tx.emit({ type: 'agent.waiting', actor: site.agent, agent: site.agent, turn: site.turn, data: { reason } });
      const hasManager =
        tx.get('SELECT 1 FROM agents WHERE id = :id AND retired_version IS NULL', { id: projectManager }) !== undefined;
      if (notifyPm && hasManager && site.agent !== projectManager) {
        postMessage(tx, {
          sender: site.agent,
          recipient: projectManager,
          priority: 'P2',
          body: `${site.agent} waits for a signal${reason === undefined ? '.' : `: ${reason}`}`,
          actor: site.agent,
          turn: site.turn,
        });
      }
      return { output: 'You will be woken by mail. Your turn ends here.', endTurn: true };
    },
});
