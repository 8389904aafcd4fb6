import { existsSync } from 'node:fs';
import { readdir } from 'node:fs/promises';
import { dirname, join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import { afterEach, describe, expect, test } from '@jest/globals';
import { eventually } from './support/poll.js';
import { docker } from './support/images.js';
import { brokenInvariants, openProject } from './support/project.js';
import { type Stack, startStack, type StackOptions } from './support/stack.js';

let stack: Stack;
afterEach(() => stack.stop());

async function start(options: StackOptions): Promise<void> {
  stack = await startStack(options);
}

/** A team that leaves what it can behind: some hang, one fails, one tells what it finds in its workspace. */
const projectFile = (backend: 'docker' | 'process') => `
name: paper
task: Leave something behind.
backend:
  kind: ${backend}
  runner:
    mode: mock
    script:
      - { agent: hanging, steps: [{ hang: true }] }
      - { agent: failing, steps: [{ write: { path: old.txt, text: Mine. } }, { fail: { exit: 3 } }] }
      - agent: looking
        steps:
          - run: { command: "ls -A > list.txt" }
          - { tool: artifacts.publish, input: { path: list.txt } }
          - { write: { path: old.txt, text: Mine. } }
          - text: Looked.
agents:
  hanging: { count: 3, role: tester, prompt: Hang. }
  failing: { role: tester, prompt: Fail. }
  looking: { role: tester, prompt: Look., tools: [artifacts.publish] }
`;

const statusOf = async (...call: Parameters<Stack['api']>) => (await stack.api(...call)).status;
const mail = (recipient: string) => stack.api('POST', '/projects/paper/messages', { recipient, body: 'Begin.' });
const remove = () => statusOf('DELETE', '/projects/paper');

async function create(backend: 'docker' | 'process'): Promise<void> {
  const answer = await stack.api('POST', '/projects', { file: projectFile(backend), start: true });
  expect(answer).toMatchObject({ status: 201 });
}

const projectsOnDisk = () => readdir(join(stack.root, 'projects'));
const containers = async (...filters: string[]) => {
  const all = [`label=suzumio.cell=${stack.cell}`, ...filters].flatMap((filter) => ['--filter', filter]);
  return (await docker('ps', '--all', '--quiet', ...all)).split('\n').filter((id) => id !== '');
};
/** What workers have of a project of this epoch. */
const workspaces = (epoch: number) =>
  [0, 1]
    .map((n) => join(dirname(stack.root), `worker-${String(n)}`, 'workspaces', stack.cell, `paper.${String(epoch)}`))
    .filter((path) => existsSync(path));
/** Services speak of errors when something failed that should not have. */
const errors = () =>
  stack
    .logs()
    .split('\n')
    .filter((line) => /"level":"?(?:50|60|error|fatal)"?/.test(line));

async function completedTurn(agent: string): Promise<void> {
  await eventually(`${agent} is done`, async () => (await turnsOf(agent)).some(({ status }) => status === 'completed'));
}

async function turnsOf(agent: string): Promise<{ status: string }[]> {
  const { body } = await stack.api('GET', `/projects/paper/turns?agent=${agent}`);
  return (body as { items: { status: string }[] }).items;
}

async function text(path: string): Promise<unknown> {
  return (await stack.api('GET', path)).body;
}

describe('a project that is deleted', () => {
  test('while its turns run in containers leaves none, nor a workspace on any worker, and hands nothing down', async () => {
    await start({ workers: 2, toolhosts: 2, backends: ['docker'] });
    await create('docker');
    // More of them than one worker has slots: both workers have something to end, and then look for what else is gone.
    const hanging = ['hanging-1', 'hanging-2', 'hanging-3'];
    for (const agent of [...hanging, 'failing', 'looking']) await mail(agent);
    await completedTurn('looking');
    await eventually(
      'some hang, and one has failed and is kept',
      async () =>
        (await containers('status=running')).length === hanging.length &&
        (await containers('status=exited')).length === 1 &&
        (await turnsOf('failing'))[0]?.status === 'failed',
    );
    expect(workspaces(1).length).toBeGreaterThan(0);

    expect(await remove()).toBe(200);
    expect(await projectsOnDisk()).toEqual([]);
    await create('docker');
    await mail('looking');
    await eventually(
      'no container runs that did',
      async () => (await containers('status=running', 'label=suzumio.epoch=1')).length === 0,
    );
    await completedTurn('looking');
    const { items } = (await text('/projects/paper/artifacts')) as { items: { id: string; sizeBytes: number }[] };
    expect(items).toEqual([expect.objectContaining({ sizeBytes: 'list.txt\n'.length })]);
    await eventually(
      'no worker keeps anything of the first',
      async () => workspaces(1).length === 0 && (await containers('label=suzumio.epoch=1')).length === 0,
    );
    expect(workspaces(2)).toHaveLength(1);
    const database = openProject(stack.root, 'paper');
    expect(brokenInvariants(database)).toEqual([]);
    database.close();
    expect(errors()).toEqual([]);
    expect(await remove()).toBe(200);
    await eventually('nothing is left', async () => (await containers()).length === 0);
  });

  test('while it is written to and worked on has each message accepted before or refused after', async () => {
    await start({ workers: 2, toolhosts: 2, schedulers: 2, backends: ['process'], sweepMs: 20 });
    for (let round = 0; round < 3; round += 1) {
      await create('process');
      await mail('hanging-1');
      const posts = Array.from({ length: 50 }, (_, n) => mail(['failing', 'looking'][n % 2] ?? ''));
      await posts[round * 10];
      expect(await remove()).toBe(200);
      const statuses = new Set((await Promise.all(posts)).map(({ status }) => status));
      expect([...statuses].filter((status) => status !== 201 && status !== 404)).toEqual([]);
      expect(await remove()).toBe(404);
      expect(await projectsOnDisk()).toEqual([]);
    }
    expect(errors()).toEqual([]);
  });
});

describe('a server that is killed while it deletes', () => {
  test('has not begun, or is done with it when it is back', async () => {
    await start({ workers: 0, backends: ['process'] });
    const [api] = stack.services.api;
    let begun = 0;
    // Each comes later into the deletion, and the last one into one that has begun.
    for (let round = 0; round < 10 || begun === 0; round += 1) {
      if ((await projectsOnDisk()).length === 0) await create('process');
      const removal = remove().catch(() => undefined);
      await sleep(round * 3);
      await api?.kill();
      await removal;
      await api?.start();
      const status = await statusOf('GET', '/projects/paper');
      const list = await stack.api('GET', '/projects');
      expect({ status, disk: await projectsOnDisk(), list: (list.body as { items: unknown[] }).items.length }).toEqual(
        status === 404 ? { status: 404, disk: [], list: 0 } : { status: 200, disk: ['paper'], list: 1 },
      );
      if (status === 404) begun += 1;
    }
    expect(errors()).toEqual([]);
  });
});
