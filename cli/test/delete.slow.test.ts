import { existsSync } from 'node:fs';
import { join } from 'node:path';
import { afterEach, beforeEach, describe, expect, test } from '@jest/globals';
import { projectDetailAnswer } from '@suzumio/contract/operations/projects';
import { type CliWorld, createCliWorld, notesProject, printed } from './support/cli.js';

let world: CliWorld;
let answers: string[];
beforeEach(async () => {
  answers = [];
  world = await createCliWorld({ answers });
  const file = await world.write('notes.yaml', notesProject('notes'));
  await world.run('init', file, '--label', 'team=news desk', '--label', 'env=test');
  await world.serve();
});
afterEach(() => world.remove());

const there = () => existsSync(join(world.root, 'projects', 'notes'));
const warning = 'notes is initialized, with 0 messages, 0 artifacts, 0 turns. None of it can be had back.\n';

describe('delete', () => {
  test('refuses where nobody can be asked, and does it when it is told to', async () => {
    expect(await world.run('delete', 'notes')).toMatchObject({
      code: 2,
      err: expect.stringMatching(
        /^notes is initialized.*\n.*nothing was changed.*\nnext: suzumio delete notes --yes\n$/,
      ),
    });
    expect(await world.run('delete', 'notes', '--json')).toMatchObject({ code: 2 });
    expect(there()).toBe(true);
    expect(await world.run('delete', 'notes', '--yes')).toEqual({
      code: 0,
      out: 'notes is deleted.\nnext: suzumio status\n',
      err: warning,
    });
    expect(there()).toBe(false);
    expect(await world.run('delete', 'notes', '--yes')).toMatchObject({
      code: 3,
      err: expect.stringContaining('There is no project "notes"'),
    });
  });

  test('asks on a terminal, and takes only a yes for one', async () => {
    answers.push('', 'n', 'yes please', 'y');
    for (let asked = 0; asked < 3; asked++) {
      expect(await world.run('delete', 'notes')).toMatchObject({ code: 2 });
      expect(there()).toBe(true);
    }
    expect(await world.run('delete', 'notes')).toMatchObject({ code: 0 });
    expect(there()).toBe(false);
  });

  test('answers a program with data', async () => {
    const { code, out, err } = await world.run('delete', 'notes', '--yes', '--json');
    expect({ code, answer: JSON.parse(out) as unknown, err }).toEqual({ code: 0, answer: { id: 'notes' }, err: '' });
  });

  test('ends a watch of the project, which says why', async () => {
    const watch = world.begin('watch', 'notes');
    await printed(watch, 'initialized');
    await world.run('delete', 'notes', '--yes');
    expect(await watch.ended).toMatchObject({ code: 3, err: expect.stringContaining('notes was deleted.') });
  });
});

describe('labels', () => {
  test('given with init are shown to programs', async () => {
    const { out } = await world.run('status', 'notes', '--json');
    expect(projectDetailAnswer.parse(JSON.parse(out)).project.labels).toEqual({ team: 'news desk', env: 'test' });
  });

  test.each(['team', 'a b=c', 'team='])('%j is refused as one', async (word) => {
    const file = await world.write('other.yaml', notesProject('other'));
    expect(await world.run('init', file, '--label', word)).toMatchObject({ code: 2 });
  });
});
