import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterEach, beforeEach, expect, test } from '@jest/globals';
import { eventually } from '../../../test/support/poll.js';
import { Controllers } from '../src/toolpacks/controllers.js';

const program = new URL('../dist/toolpacks/controller-child.js', import.meta.url);
/** Asks its project for something, and answers with that. */
const module = `export default ({ store }) => ({ ask: () => ({ output: store.config() }) });`;

let directory: string;
let controllers: Controllers;
beforeEach(async () => {
  directory = await mkdtemp(join(tmpdir(), 'suzumio-places-'));
  controllers = new Controllers(program);
});
afterEach(async () => {
  await controllers.close();
  await rm(directory, { recursive: true, force: true });
});

test('projects take turns for the places of controllers', async () => {
  const running: { project: string; end: (answer: string) => void }[] = [];
  const begun: string[] = [];
  const call = (project: string, toolpack: string) =>
    controllers.call({
      files: () => Promise.resolve(new Map([['controller.mjs', Buffer.from(module)]])),
      module: 'controller.mjs',
      order: {
        tool: 'ask',
        input: {},
        project,
        agent: {},
        activationId: 'turn',
        toolpackId: toolpack,
        root: join(directory, project, toolpack),
      },
      reply: () =>
        new Promise<string>((end) => {
          begun.push(project);
          running.push({ project, end });
        }),
    });
  const endOf = (project: string) => {
    const at = running.findIndex((one) => one.project === project);
    running.splice(at, 1)[0]?.end('Done.');
  };
  const all = Array.from({ length: 10 }, (_, at) => call('full', `pack-${String(at)}`));
  await eventually('all places are taken', () => running.length === 4);
  all.push(call('other', 'pack'), call('other', 'second'), call('third', 'pack'));
  const ends: [of: string, next: string[]][] = [
    ['full', ['other']],
    ['full', ['other', 'third']],
    // Of those with as many places, the one that has waited longer.
    ['full', ['other', 'third', 'full']],
    ['third', ['other', 'third', 'full', 'other']],
  ];
  for (const [project, next] of ends) {
    endOf(project);
    await eventually('the next has begun', () => running.length === 4, { show: () => begun });
    expect(begun.slice(4)).toEqual(next);
  }
  while (begun.length < all.length || running.length > 0) {
    await eventually('one more has begun', () => running.length > 0);
    endOf(running[0]?.project ?? '');
  }
  expect((await Promise.all(all)).map(({ output }) => output)).toEqual(all.map(() => 'Done.'));
});
