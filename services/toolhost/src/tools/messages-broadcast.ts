import * as z from 'zod';
import { atWork } from '@suzumio/contract/model/busy-agent';
import { broadcast } from '@suzumio/store/mail/broadcast';
import { messageFields, name } from './message-fields.js';
import { defineTool } from './tool.js';

export const messagesBroadcast = defineTool({
  name: 'messages.broadcast',
  description:
    'Announce something to every agent of a team, or of the whole project, but yourself. It wakes all of them, each for a ' +
    'turn of its own: use it for what everybody has to know, and messages.send or messages.reply for everything else.',
  input: z.strictObject({
    team: name.optional().describe('A team as it stands after agents in your prompt. Leave out for all agents.'),
    ...messageFields,
  }),
  prepare: (input) => (tx, site) => {
    const { id, recipients, busy } = broadcast(tx, {
      ...input,
      sender: site.agent,
      actor: site.agent,
      turn: site.turn,
    });
    const output = [`Sent to ${recipients.join(', ')} as ${id}.`, ...atWork(busy, String)].join(' ');
    return { output, metadata: { message: id, recipients } };
  },
});
