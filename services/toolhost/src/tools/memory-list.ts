import { plainText } from '@suzumio/protocol/plain-text';
import { agentOwner } from '@suzumio/store/memory/agent-notes';
import { listNotes, noteCalled } from '@suzumio/store/memory/notes';
import type { Page } from '@suzumio/store/sqlite/page';
import * as z from 'zod';
import { requireProfileMemory, scope, showNotes } from './memory-scope.js';
import { defineTool } from './tool.js';

export const memoryList = defineTool({
  name: 'memory.list',
  description: 'List what you, or all agents of your profile, have kept in mind: the newest notes first.',
  input: z.strictObject({
    scope: scope.default('agent'),
    limit: z.int().min(1).max(100).default(20),
    before: plainText.min(1).max(100).optional().describe('The id of a note: those before it are listed.'),
  }),
  async prepare({ scope: of, limit, before }, environment) {
    const { reader, agent } = environment;
    const page = (seq: number | undefined): Page => ({ limit, order: 'desc', before: seq });
    const list = async () => {
      if (of === 'agent') {
        const owner = agentOwner(reader, agent);
        return listNotes(reader, owner, page(before === undefined ? undefined : noteCalled(reader, owner, before).seq));
      }
      const { profile, notes } = await requireProfileMemory(environment);
      return notes.list(profile, page(before === undefined ? undefined : notes.get(profile, before).seq));
    };
    const { items } = await list();
    const answer = showNotes(
      items.map((note) => ({ scope: of, note })),
      {
        none: before === undefined ? 'Nothing is noted.' : 'Nothing was noted before it.',
        more: 'list those before the last of these',
      },
    );
    return () => answer;
  },
});
