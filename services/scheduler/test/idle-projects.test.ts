import { utimes } from 'node:fs/promises';
import { join } from 'node:path';
import { afterEach, beforeEach, expect, test } from '@jest/globals';
import { Scheduler } from '@suzumio/scheduler';
import { silentLogger } from '@suzumio/runtime/observability/logger';
import { createMetrics } from '@suzumio/runtime/observability/metrics';
import { createInProcessTransport } from '@suzumio/runtime/queue/in-process-transport';
import { postMessage } from '@suzumio/store/mail/post-message';
import { teamYaml, type TestCell, testCell, watchUse } from '../../../test/support/cell.js';
import { eventually } from '../../../test/support/poll.js';
import { roundsIn } from './rounds.js';

const maxOpen = 16;
const projects = Array.from({ length: 24 }, (_, n) => `team-${String(n)}`);
const metrics = createMetrics('scheduler');

let testing: TestCell;
let scheduler: Scheduler;
let seen: ReturnType<typeof watchUse>;

beforeEach(async () => {
  testing = await testCell({ maxOpen });
  for (const project of projects) await testing.create(teamYaml.replace('name: team', `name: ${project}`));
  await testing.restart();
  seen = watchUse(testing.cell.stores);
  scheduler = new Scheduler(
    { transportName: 'test', sweepIntervalMs: 5, contentCheckMs: 3_600_000 },
    {
      cell: testing.cell,
      transport: createInProcessTransport({ logger: silentLogger() }),
      logger: silentLogger(),
      metrics,
    },
  );
});
afterEach(async () => {
  await scheduler.stop();
  await testing.close();
});

/** Makes the last commit of each project look as if it was made some seconds ago. */
async function age(): Promise<void> {
  const then = Date.now() / 1000 - 10;
  for (const project of projects) {
    const directory = testing.cell.directory.projectDir(project);
    for (const name of ['project.db', 'project.db-wal']) {
      // A database that is closed meanwhile takes its write-ahead log with it.
      await utimes(join(directory, name), then, then).catch((error: unknown) => {
        if ((error as NodeJS.ErrnoException).code !== 'ENOENT') throw error;
      });
    }
  }
}

async function afterMoreSweeps(): Promise<void> {
  const sweeps = () => roundsIn(metrics, 'sweep');
  const before = await sweeps();
  await eventually('projects were looked at again', async () => (await sweeps()) > before + 1);
}

test('idle projects are looked at after a start, with no more databases open at a time than there is memory for, and then not again', async () => {
  await age();
  await scheduler.start();
  await eventually('all were looked at', () => projects.every((project) => seen.used.includes(project)));
  expect(seen.mostOpen).toBe(maxOpen);
  // Closing the last of them writes to its file once more.
  await eventually('none is looked at again', async () => {
    await age();
    await afterMoreSweeps();
    seen.used.length = 0;
    await afterMoreSweeps();
    return seen.used.length === 0;
  });
  await testing.write('team-7', (tx) =>
    postMessage(tx, { sender: 'user', recipient: 'ada', priority: 'P1', body: 'Go.', actor: 'test' }),
  );
  await eventually('it is looked at', () => seen.used.length > 1);
  expect(new Set(seen.used)).toEqual(new Set(['team-7']));
});
