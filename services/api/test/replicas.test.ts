import { mkdir, mkdtemp, readdir, rm, utimes, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { afterEach, beforeEach, expect, test } from '@jest/globals';
import { defaultPolicy } from '@suzumio/core/policy/policy';
import { Cell } from '@suzumio/store/cell/cell';
import { teamYaml } from '../../../test/support/cell.js';
import { mountable } from '../../../test/support/mountable.js';
import { type TestApi, testApi } from './support/api.js';

let api: TestApi;
let workspaces: string;
let other: Cell;
beforeEach(async () => {
  api = await testApi({ policy: { ...defaultPolicy, workspaces: { roots: [mountable] } } });
  workspaces = await mkdtemp(join(mountable, 'suzumio-workspaces-'));
  for (let n = 0; n < 30; n++) await writeFile(join(workspaces, `${String(n)}.csv`), `gauge ${String(n)}\n`);
  other = Cell.open(api.root);
});
afterEach(async () => {
  await other.close();
  await api.close();
  await rm(workspaces, { recursive: true });
});

test('a process that starts leaves alone what another one is just making', async () => {
  const file = teamYaml.replace('prompt: Write.,', `prompt: Write., workspace: { from: ${workspaces} },`);
  const posting = { answered: false };
  const answer = api.post('/api/projects', { file, start: true }).finally(() => (posting.answered = true));
  let recoveries = 0;
  while (!posting.answered) {
    await other.recover();
    recoveries += 1;
  }
  expect(await answer).toMatchObject({ status: 201 });
  expect(recoveries).toBeGreaterThan(3);
  expect(api.cell.catalog.projects.all()).toEqual([{ id: 'team', status: 'running' }]);
  expect((await api.get('/api/projects/team')).status).toBe(200);
});

test('a process that starts puts right what a crash left', async () => {
  const [left, young] = ['.new-0123456789ab', '.new-ba9876543210'].map((name) => api.cell.directory.projectDir(name));
  await mkdir(left ?? '');
  await mkdir(young ?? '');
  const longAgo = Date.now() - 2 * 60 * 60 * 1000;
  await utimes(left ?? '', longAgo / 1000, longAgo / 1000);
  api.setNow(longAgo);
  await api.post('/api/projects', { file: teamYaml, start: true });
  await api.cell.catalog.projects.remove('team');

  await other.recover();
  expect(await readdir(api.cell.directory.projectsDir)).toEqual(['.new-ba9876543210', 'team']);
  expect(other.catalog.projects.all()).toEqual([{ id: 'team', status: 'running' }]);
  expect(other.catalog.projects.unsettled()).toEqual(['team']);
});
