import { existsSync } from 'node:fs';
import { mkdir, readdir } from 'node:fs/promises';
import { expect, test } from '@jest/globals';
import { agentImage } from './support/images.js';
import { until } from './support/until.js';
import { type World, worlds } from './support/world.js';

const fails = `import fs from 'node:fs'; fs.writeFileSync('/workspace/draft.md', 'secret'); process.exit(3);`;
const forEver = `import fs from 'node:fs'; fs.writeFileSync('/workspace/draft.md', 'secret'); setInterval(() => {}, 1000);`;
const kept = { keep: 'always', keepForMs: 3_600_000 } as const;

const image = agentImage();
const open = worlds();

/** What the worker keeps of a project. */
const left = (here: World, project: string) =>
  ['workspaces', 'snapshots', 'downloads']
    .map((name) => `${here.directory}/w/${name}/${here.cell}/${project}`)
    .filter((path) => existsSync(path));

test('a project that was deleted leaves neither workspaces nor kept containers, and the next of its name keeps its own', async () => {
  const here = await open({ limits: { sweepMs: 300 } });
  await here.run({ image: image.name, program: fails, sandbox: kept });
  await here.run({ image: image.name, program: fails, sandbox: kept, epoch: 2, agent: 'other' });
  expect(left(here, 'paper.1')).toHaveLength(3);
  expect(await here.containers()).toHaveLength(2);

  here.toolhost.gone.add('paper.1');
  await until(async () => (await here.containers()).length === 1, 'the removal of the kept container');
  expect(left(here, 'paper.1')).toEqual([]);
  expect(await readdir(`${here.directory}/w/workspaces/${here.cell}/paper.2/other`)).toContain('draft.md');
});

test('a turn of a project that is deleted is killed, and what it leaves is removed at once', async () => {
  // No sweep comes before the end of the test.
  const here = await open({ limits: { sweepMs: 600_000 } });
  const turn = await here.give({ image: image.name, program: forEver, sandbox: kept });
  await here.containerOf(turn);
  // As a ToolHost answers once the project is no more.
  here.toolhost.gone.add('paper.1');
  here.toolhost.intercept = ({ url }) =>
    url?.startsWith('/projects/paper/') === true ? { status: 404, code: 'project-unknown' } : undefined;
  await until(async () => (await here.containers()).length === 0, 'the end of the container');
  await until(() => left(here, 'paper.1').length === 0, 'the removal of the workspace');
});

test('a worker that was away meanwhile removes what it has when it is back', async () => {
  const here = await open();
  await here.run({ image: image.name, program: fails, sandbox: kept });
  await here.worker.stop();
  here.toolhost.gone.add('paper.1');
  here.worker = here.newWorker();
  await here.worker.start();
  await until(async () => (await here.containers()).length === 0, 'the removal of the kept container');
  expect(left(here, 'paper.1')).toEqual([]);
});

test('nothing is removed while the ToolHost cannot be asked, nor what is not a project’s', async () => {
  const here = await open({ limits: { sweepMs: 200 } });
  await here.run({ image: image.name, program: fails, sandbox: kept });
  await mkdir(`${here.directory}/w/workspaces/${here.cell}/notes`);
  here.toolhost.gone.add('paper.1');
  here.toolhost.intercept = () => ({ status: 503 });
  const warned = () =>
    here.lines.filter(({ msg }) => String(msg).startsWith('the ToolHost could not say which projects')).length;
  await until(() => warned() >= 2, 'two sweeps');
  expect(left(here, 'paper.1')).toHaveLength(3);
  here.toolhost.intercept = () => undefined;
  await until(() => left(here, 'paper.1').length === 0, 'the removal');
  expect(await readdir(`${here.directory}/w/workspaces/${here.cell}`)).toEqual(['notes']);
});
