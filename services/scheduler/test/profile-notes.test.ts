import { afterEach, beforeEach, expect, test } from '@jest/globals';
import { silentLogger } from '@suzumio/runtime/observability/logger';
import { createMetrics } from '@suzumio/runtime/observability/metrics';
import { createInProcessTransport } from '@suzumio/runtime/queue/in-process-transport';
import { Scheduler } from '@suzumio/scheduler';
import { noteForProfile } from '@suzumio/store/memory/profile-changes';
import { type TestCell, testCell } from '../../../test/support/cell.js';
import { eventually } from '../../../test/support/poll.js';

let testing: TestCell;
let profile: string;
beforeEach(async () => {
  testing = await testCell();
  const akari = { nickname: 'Akari', role: 'r', team: null, persona: 'Look.', model: null, skills: [] };
  profile = (await testing.cell.catalog.profiles.create(akari)).id;
});
afterEach(() => testing.close());

test.each([
  ['runs', true],
  ['does not run', false],
])('what an agent noted for its profile before a crash is carried, where its project %s', async (_state, start) => {
  const project = await testing.create(undefined, { start });
  const turn = { id: 'turn_1', agent_id: 'ada', number: 1 };
  await testing.write(project, (tx) => noteForProfile(tx, profile, { text: 'Moved.', tags: [] }, turn));
  await testing.restart();
  const logger = silentLogger();
  const scheduler = new Scheduler(
    { transportName: 'test', sweepIntervalMs: 5 },
    {
      cell: testing.cell,
      transport: createInProcessTransport({ logger }),
      logger,
      metrics: createMetrics('scheduler'),
    },
  );
  await scheduler.start();
  try {
    const notes = () => testing.cell.catalog.profileNotes.list(profile, { limit: 10 }).items;
    await eventually('it is carried', () => notes().length === 1);
    await eventually('nothing is due', async () => {
      return (await testing.rows(project, 'SELECT seq FROM profile_changes')).length === 0;
    });
    expect(notes()).toMatchObject([{ text: 'Moved.', project: 'team', turn: 'ada:1' }]);
  } finally {
    await scheduler.stop();
  }
});
