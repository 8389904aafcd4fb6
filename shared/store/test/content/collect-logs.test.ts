import { readdir, utimes, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { afterEach, beforeEach, expect, test } from '@jest/globals';
import { collectContent, unreferencedMs } from '@suzumio/store/content/collect-content';
import { keptLogs } from '@suzumio/store/content/collect-logs';
import { storedByOwner } from '@suzumio/store/content/stored-bytes';
import { writeTurnLog } from '@suzumio/store/content/turn-logs';
import { type TestCell, testCell } from '../../../../test/support/cell.js';

let testing: TestCell;
let directory: string;
beforeEach(async () => {
  testing = await testCell();
  await testing.create();
  directory = testing.cell.directory.projectDir('team');
});
afterEach(() => testing.close());

const collect = () => testing.store('team', (store) => collectContent(store, directory, Date.now()));
const logs = () => readdir(join(directory, 'logs'));
const charged = () =>
  testing.store('team', ({ reader }) => storedByOwner(reader).filter(({ kind, owner }) => kind === 'logs' && owner));

/** A turn with so many attempts, each with a log. */
async function turn(agent: string, number: number, attempts: number): Promise<string> {
  const id = `turn_${agent}_${number}`;
  await testing.write('team', (tx) =>
    tx.insert('turns', { id, agent_id: agent, number, status: 'completed', priority: 'P1', queued_at_ms: 1 }),
  );
  for (let attempt = 1; attempt <= attempts; attempt += 1)
    await writeTurnLog(directory, { turn_id: id, number: attempt }, Buffer.from('said'));
  return id;
}

test('of an agent that goes on for ever the newest logs are kept, and it is charged for those alone', async () => {
  await turn('ada', 9, 2);
  const waits = await turn('ada', 10, keptLogs);
  const last = await turn('ada', 11, 1);
  const other = await turn('ben', 1, 1);
  await collect();
  const kept = Array.from({ length: keptLogs - 1 }, (_, index) => `${waits}.${index + 2}.log`);
  expect((await logs()).sort()).toEqual([...kept, `${last}.1.log`, `${other}.1.log`].sort());
  expect(await charged()).toEqual([
    { owner: 'ada', kind: 'logs', bytes: 4096 * keptLogs },
    { owner: 'ben', kind: 'logs', bytes: 4096 },
  ]);
});

test('what a crash left half written goes after a day', async () => {
  const id = await turn('ada', 1, 1);
  const [old, young] = [`${id}.2.log.0badcafe`, `${id}.3.log.0badcafe`];
  for (const name of [old, young]) await writeFile(join(directory, 'logs', name), 'half');
  const then = new Date(Date.now() - 2 * unreferencedMs);
  await utimes(join(directory, 'logs', old), then, then);
  await collect();
  expect((await logs()).sort()).toEqual([`${id}.1.log`, young].sort());
});
