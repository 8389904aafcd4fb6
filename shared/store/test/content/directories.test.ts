import { setImmediate as nextRound } from 'node:timers/promises';
import { expect, test } from '@jest/globals';
import type { ContentStore } from '@suzumio/store/content/content-store';
import { publishedDirectory } from '@suzumio/store/content/directories';

const list = Buffer.from(JSON.stringify({ version: 1, entries: [{ kind: 'directory', path: 'a' }] }));
const stored = (projectDir: string) =>
  ({
    projectDir,
    sizeOf: () => Promise.resolve(list.length),
    readStart: () => Promise.resolve(list),
  }) as unknown as ContentStore;

test('of lists that are read at once, one is parsed in a round of the event loop, of each project in turn', async () => {
  const read: { project: string; round: number }[] = [];
  let [round, isOver] = [0, false];
  const rounds = (async () => {
    for (; !isOver; round += 1) await nextRound();
  })();
  await Promise.all(
    ['busy', 'busy', 'busy', 'other'].map(async (project) => {
      await publishedDirectory(stored(project), 'hash');
      read.push({ project, round });
    }),
  );
  isOver = true;
  await rounds;
  expect(new Set(read.map((each) => each.round)).size).toBe(4);
  expect(read.map(({ project }) => project)).toEqual(['busy', 'other', 'busy', 'busy']);
});
