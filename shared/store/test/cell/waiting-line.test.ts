import { afterEach, beforeEach, expect, test } from '@jest/globals';
import type { Share, WaitingLine } from '@suzumio/store/cell/waiting-line';
import { entryOf, type TestCell, testCell } from '../../../../test/support/cell.js';

let testing: TestCell;
let line: WaitingLine;
beforeEach(async () => {
  testing = await testCell();
  line = testing.cell.catalog.waitingLine;
  for (const project of ['a', 'b', 'c', 'd']) {
    await testing.cell.catalog.projects.add(project, entryOf('running'));
    await line.join(project);
  }
});
afterEach(() => testing.close());

/** Deals one place, and who got it. */
async function dealOne(): Promise<{ project: string; share: Share }> {
  const [[project, share] = []] = await line.deal(1);
  if (project === undefined || !share) throw new Error('nobody got the place');
  return { project, share };
}
async function inLine(): Promise<string> {
  const order: string[] = [];
  while (!line.empty) {
    const { project } = await dealOne();
    order.push(project);
    await line.leave(project);
  }
  return order.join('');
}

test('a place goes to each project in turn', async () => {
  expect([(await dealOne()).project, (await dealOne()).project]).toEqual(['a', 'b']);
  expect(await inLine()).toBe('cdab');
});

test.each([
  ['in the order of the deals', [0, 1]],
  ['the other way round', [1, 0]],
])(
  'projects that were dealt places which others had taken stand where they stood, put back %s',
  async (_name, order) => {
    const dealt = [await dealOne(), await dealOne()];
    for (const at of order) {
      const { project, share } = dealt[at] ?? { project: '', share: { places: 0, from: 0, to: 0 } };
      await line.putBack(project, share);
    }
    expect(await inLine()).toBe('abcd');
  },
);

test('a project that has had a place of another deal meanwhile stays behind the others', async () => {
  const { project, share } = await dealOne();
  expect(project).toBe('a');
  for (let deal = 0; deal < 4; deal += 1) await dealOne();
  await line.putBack(project, share);
  expect(await inLine()).toBe('bcda');
});
