import { join } from 'node:path';
import { afterAll, beforeAll, expect, test } from '@jest/globals';
import { type CliWorld, createCliWorld } from './support/cli.js';

let world: CliWorld;
beforeAll(async () => {
  world = await createCliWorld();
  await world.write('akari.md', 'Read.\n');
  const persona = join(world.directory, 'akari.md');
  await world.run('profiles', 'create', 'Akari', '--role', 'reader', '--persona', persona);
});
afterAll(() => world.remove());

test('a profile is changed on the version that was read, and otherwise shown as it is by now', async () => {
  const update = (...words: string[]) => world.run('profiles', 'update', 'Akari', ...words);
  expect((await world.run('profiles', 'show', 'Akari')).out).toMatch(/^ {2}version {2}1$/m);
  expect(await update('--role', 'editor', '--base', '1')).toMatchObject({ code: 0 });
  const { code, out, err } = await update('--role', 'writer', '--base', '1');
  expect({ code, err }).toEqual({
    code: 3,
    err: 'The profile Akari was read at version 1, and is at version 2 by now (user); role is not what was read. Nothing was changed: look at what it is by now, and name that version.\n',
  });
  expect(out).toMatch(/^It is this by now:\n\nAkari, editor\n(.*\n)* {2}version {2}2, by user\n/);
  expect(JSON.parse((await update('--role', 'writer', '--base', '1', '--json')).err)).toMatchObject({
    code: 'edit-conflict',
    version: 2,
    changed: ['role'],
  });
  expect(await update('--role', 'writer', '--base', '2')).toMatchObject({ code: 0 });
  expect(await update('--role', 'clerk')).toMatchObject({ code: 0 });
  expect(await update('--base', '4')).toMatchObject({
    code: 3,
    err: expect.stringContaining('name what is to change'),
  });
});

test('a note is changed on the version that was read, and otherwise shown as it is by now', async () => {
  const { out: added } = await world.run('memory', 'add', '--profile', 'Akari', 'Levels in feet.', '--json');
  const { id } = JSON.parse(added) as { id: string };
  const edit = (...words: string[]) => world.run('memory', 'edit', '--profile', 'Akari', id, ...words);
  expect(await edit('Levels in metres.', '--base', '1')).toMatchObject({ code: 0 });
  const late = await edit('Levels in yards.', '--base', '1');
  expect(late).toMatchObject({
    code: 3,
    out: expect.stringMatching(/^It is this by now:\n\nnote_.*, version 2 by user .*\n {2}Levels in metres\.\n/),
    err: expect.stringMatching(/^The note note_\w+ of profile Akari was read at version 1, and is at version 2 by now/),
  });
  expect(await edit('Levels in yards.', '--base', '2')).toMatchObject({ code: 0 });
  const forget = (...words: string[]) => world.run('memory', 'forget', '--profile', 'Akari', id, '--yes', ...words);
  expect(await forget('--base', '2')).toMatchObject({
    code: 3,
    out: expect.stringMatching(/^It is this by now:\n\nnote_.*, version 3 by user .*\n {2}Levels in yards\.\n/),
    err: expect.stringMatching(/was read at version 2, and is at version 3 by now/),
  });
  expect(await forget('--base', '3')).toMatchObject({ code: 0 });
});
