import { plainText } from '@suzumio/protocol/plain-text';
import { forgetNoteOfAgent } from '@suzumio/store/memory/agent-notes';
import { forgetNoteOfProfile } from '@suzumio/store/memory/profile-changes';
import { turnRow } from '@suzumio/store/rows';
import * as z from 'zod';
import { requireProfileMemory, scope } from './memory-scope.js';
import { defineTool } from './tool.js';

export const memoryForget = defineTool({
  name: 'memory.forget',
  description: 'Erase a note that is wrong or of no more use, by its id.',
  input: z.strictObject({
    id: plainText.min(1).max(100).describe('A note id such as note_01ABC….'),
    scope: scope.default('agent').describe('Whose note it is: yours, or that of your profile.'),
  }),
  async prepare({ id, scope: of }, environment) {
    const answer = { output: `Forgot ${id}.`, metadata: { note: id, scope: of } };
    if (of === 'agent') {
      return (tx, site) => {
        forgetNoteOfAgent(tx, site.agent, id, { turn: turnRow(tx, site.turn) });
        return answer;
      };
    }
    const { profile, notes } = await requireProfileMemory(environment);
    notes.get(profile, id);
    return (tx, site) => {
      forgetNoteOfProfile(tx, profile, id, turnRow(tx, site.turn));
      return answer;
    };
  },
});
