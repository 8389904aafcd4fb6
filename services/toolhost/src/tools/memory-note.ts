import { noteFields } from '@suzumio/contract/model/note';
import { noteForAgent } from '@suzumio/store/memory/agent-notes';
import { noteBytes, refuseFull } from '@suzumio/store/memory/notes';
import { noteForProfile } from '@suzumio/store/memory/profile-changes';
import { turnRow } from '@suzumio/store/rows';
import * as z from 'zod';
import { requireProfileMemory, scope } from './memory-scope.js';
import { defineTool } from './tool.js';

export const memoryNote = defineTool({
  name: 'memory.note',
  description:
    'Keep something in mind for later turns: a fact, a decision, a preference, what went wrong and why. Say it so that it can ' +
    'be understood without this turn. People can read, change and erase it.',
  input: z.strictObject({
    text: noteFields.text,
    tags: noteFields.tags.default([]),
    scope: scope
      .default('agent')
      .describe('"profile": for every agent of your profile, in all projects. "agent": for yourself alone.'),
  }),
  async prepare({ scope: of, ...note }, environment) {
    if (of === 'agent') {
      return (tx, site) => {
        const { id } = noteForAgent(tx, site.agent, note, { turn: turnRow(tx, site.turn) });
        return { output: `Noted as ${id}.`, metadata: { note: id, scope: of } };
      };
    }
    const { profile, notes } = await requireProfileMemory(environment);
    refuseFull({ id: profile, name: 'your profile' }, notes.use(profile), noteBytes(note));
    return (tx, site) => {
      const id = noteForProfile(tx, profile, note, turnRow(tx, site.turn));
      return { output: `Noted as ${id}, for every agent of your profile.`, metadata: { note: id, scope: of } };
    };
  },
});
