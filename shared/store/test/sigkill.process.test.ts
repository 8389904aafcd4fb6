import { randomInt } from 'node:crypto';
import { readdir, rm, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { afterEach, describe, expect, test } from '@jest/globals';
import { Cell } from '@suzumio/store/cell/cell';
import { systemContext } from '@suzumio/store/sqlite/context';
import { constructionMs } from '@suzumio/store/cell/create-project';
import { children } from '../../../test/support/child.js';
import { teamYaml, type TestCell, testCell } from '../../../test/support/cell.js';
import { contradictionsIn } from '@suzumio/store/projects/contradictions';

const busyProject = new URL('./fixtures/busy-project.mjs', import.meta.url);
const createProjects = new URL('./fixtures/create-projects.mjs', import.meta.url);

let testing: TestCell;
afterEach(() => testing.close());
const startChild = children();

describe('a process that is killed at any moment', () => {
  test('leaves a database that opens, whose rules hold, and in which all is that was said to be written', async () => {
    testing = await testCell();
    const project = await testing.create();
    const acknowledged: string[] = [];
    for (let round = 0; round < 6; round += 1) {
      // Two writers, so that a kill also meets a commit of the other.
      const writers = [startChild(busyProject, testing.root, project), startChild(busyProject, testing.root, project)];
      const reading = Promise.allSettled(
        writers.map(async (child) => {
          for (;;) acknowledged.push(await child.line());
        }),
      );
      const wanted = acknowledged.length + 10 + randomInt(200);
      while (acknowledged.length < wanted) await new Promise((resolve) => setTimeout(resolve, 1));
      await Promise.all(writers.map((child) => child.kill()));
      await reading;
      const cell = Cell.open(testing.root);
      try {
        await cell.stores.use(project, (store) => {
          expect(contradictionsIn(store.reader)).toEqual({});
          const written = new Set(store.reader.all<{ id: string }>('SELECT id FROM messages').map(({ id }) => id));
          expect(acknowledged.filter((id) => !written.has(id))).toEqual([]);
        });
      } finally {
        await cell.close();
      }
    }
  });

  test('while it makes projects leaves whole ones, and what is not whole is gone after the next start', async () => {
    testing = await testCell();
    const file = join(testing.root, 'team.yaml');
    await writeFile(file, teamYaml);
    const made: string[] = [];
    for (let round = 0; round < 6; round += 1) {
      const child = startChild(createProjects, testing.root, `r${String(round)}`, file);
      const wanted = made.length + 1 + randomInt(3);
      while (made.length < wanted) made.push(await child.line());
      await new Promise((resolve) => setTimeout(resolve, randomInt(30)));
      await child.kill();

      const system = systemContext();
      const cell = Cell.open(testing.root, { context: { ...system, now: () => system.now() + 2 * constructionMs } });
      try {
        await cell.recover();
        const onDisk = await readdir(cell.directory.projectsDir);
        expect(onDisk.filter((name) => name.startsWith('.'))).toEqual([]);
        expect(onDisk).toEqual(expect.arrayContaining(made));
        expect(
          cell.catalog.projects
            .all()
            .map(({ id }) => id)
            .sort(),
        ).toEqual(onDisk.sort());
        for (const project of onDisk) {
          await cell.stores.use(project, (store) => {
            expect(contradictionsIn(store.reader)).toEqual({});
            expect(store.config.name).toBe(project);
          });
        }
      } finally {
        await cell.close();
      }
    }
    await rm(file);
  });
});
