import { writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { afterEach, beforeEach, expect, test } from '@jest/globals';
import type { Grant } from '@suzumio/core/policy/grant';
import { grantFileName } from '@suzumio/store/cell/grants';
import { defaultPolicy } from '@suzumio/core/policy/policy';
import { teamYaml } from '../../../test/support/cell.js';
import { type ToolhostBench, toolhostBench } from './toolhost-client.js';

let bench: ToolhostBench;
beforeEach(async () => {
  bench = await toolhostBench({ policy: { ...defaultPolicy, images: ['mine:*'] } });
});
afterEach(() => bench.close());

const team = teamYaml
  .replace('mode: mock }', 'mode: mock }, image: mine:1')
  .replace('ben: { ', 'ben: { env: { GAUGE: north }, backend: docker, ');

const failed = (project: string) =>
  bench.testing.rows<{ status: string; code: string }>(
    project,
    `SELECT status, failure_json ->> 'code' AS code FROM turns ORDER BY rowid DESC LIMIT 1`,
  );

test('a claim says what its agent asks for, where the policy allows it', async () => {
  const project = await bench.testing.create(team);
  const ben = await bench.begin(project, 'ben');
  expect(ben.answer).toMatchObject({ backend: 'docker', sandbox: { image: 'mine:1', env: { GAUGE: 'north' } } });
  const ada = await bench.begin(project, 'ada');
  expect(ada.answer.sandbox.env).toEqual({});
});

test('a turn that the policy has come to forbid fails when it is claimed, and says why', async () => {
  const project = await bench.testing.create(team);
  const turn = await bench.queueTurn(project, 'ada');
  await bench.restart({ policy: defaultPolicy });
  expect(await bench.claim(project, turn)).toMatchObject({
    status: 409,
    body: { code: 'claim-refused', detail: expect.stringContaining('image: the image mine:1 may not be used') },
  });
  expect(await failed(project)).toEqual([{ status: 'failed', code: 'policy-denied' }]);
});

test('an attempt that runs is not ended by a policy that came later', async () => {
  const project = await bench.testing.create(team);
  const turn = await bench.queueTurn(project, 'ada');
  const claimId = 'a'.repeat(32);
  const first = await bench.claim(project, turn, { claimId });
  await bench.restart({ policy: defaultPolicy });
  expect(await bench.claim(project, turn, { claimId })).toEqual(first);
});

test('a project has what its maker was allowed, and no other has it', async () => {
  const granted = await bench.testing.create(team);
  const other = await bench.testing.create(team.replace('name: team', 'name: other'));
  const grant: Grant = { directories: [], readonly: [], images: ['mine:1'], git: [], toolpacks: [], providers: [] };
  const file = join(bench.testing.cell.directory.projectDir(granted), grantFileName);
  await writeFile(file, JSON.stringify(grant));
  await bench.restart({ policy: defaultPolicy });
  expect(await bench.claim(granted, await bench.queueTurn(granted, 'ada'))).toMatchObject({ status: 200 });
  expect(await bench.claim(other, await bench.queueTurn(other, 'ada'))).toMatchObject({ status: 409 });
});
