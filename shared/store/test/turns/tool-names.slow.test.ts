import { expect, test } from '@jest/globals';
import { coreToolNames } from '@suzumio/protocol/tool-names';
import { agentRow } from '@suzumio/store/rows';
import { toolNames } from '@suzumio/store/turns/frozen-input';
import { testCell } from '../../../../test/support/cell.js';
import { makeOld } from '../../../../test/support/old-project.js';
import { eventually } from '../../../../test/support/poll.js';

test('wildcards of a project of an older version stand for the tools of then', async () => {
  const testing = await testCell();
  try {
    const project = await testing.create();
    await makeOld(testing, project);
    const migrated = () =>
      testing.rows(project, 'SELECT request_hash FROM tool_calls').then(
        () => true,
        () => false,
      );
    await eventually('it is migrated', migrated);
    await testing.store(project, (store) => {
      const agent = agentRow(store.reader, 'ada');
      expect(JSON.parse(agent.tools_json)).toEqual(['*']);
      expect([...toolNames(agent, store.config)].sort()).toEqual([...coreToolNames].sort());
    });
  } finally {
    await testing.close();
  }
});
