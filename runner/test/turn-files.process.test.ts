import { readdir, readFile, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { afterEach, beforeEach, expect, test } from '@jest/globals';
import { files } from './support/bundle.js';
import { createTurnPlace, type Ended, ended, script, type TurnPlace } from './support/turn.js';

let place: TurnPlace;

beforeEach(async () => {
  place = await createTurnPlace();
});
afterEach(() => place.remove());

function run(): Promise<Ended> {
  return ended(place.start(files.runner));
}

test.each([
  ['', 'JSON'],
  ['{"project":', 'JSON'],
  ['[]', "is not a turn's input"],
  ['{"project":"newsroom"}', '→ at agent'],
])('an input that is %j ends the runner with 65 and says what is wrong', async (text, reason) => {
  await writeFile(join(place.turnDir, 'input.json'), text);
  const { code, stderr } = await run();
  expect(code).toBe(65);
  expect(stderr).toContain('input.json');
  expect(stderr).toContain(reason);
});

test('a missing input ends the runner with 65', async () => {
  expect(await run()).toMatchObject({ code: 65, stderr: expect.stringContaining('ENOENT') });
});

test('an input of a newer protocol is refused', async () => {
  await place.prepare({ protocol: 2 });
  expect(await run()).toMatchObject({
    code: 65,
    stderr: expect.stringContaining('use a newer runner image'),
  });
});

test('a controllerUrl that names no door is refused', async () => {
  await place.prepare({ controllerUrl: 'ftp://somewhere' });
  expect(await run()).toMatchObject({ code: 65, stderr: expect.stringContaining('names no door') });
});

test('an input with the minimal fields alone is enough', async () => {
  const { runner: mock } = script({ text: '{{agent.displayName}} in turn {{turn.number}}' });
  await place.prepare({
    runner: mock,
    agent: { id: 'reporter', role: 'reporter', prompt: '' },
    turn: { id: 'turn_01KB3Z0000000000000000000A', prompt: '' },
    protocol: undefined,
    limits: undefined,
  });
  expect(await run()).toMatchObject({ code: 0 });
  expect(await place.output()).toEqual({ text: 'reporter in turn 1' });
});

test('the output is whole from the moment it is there', async () => {
  const line = 'x'.repeat(1000);
  await place.prepare(script(...Array.from({ length: 900 }, () => ({ text: line }))));
  const end = run();
  let seen: string | undefined;
  while (seen === undefined) seen = await readFile(join(place.turnDir, 'output.json'), 'utf8').catch(() => undefined);
  expect((JSON.parse(seen) as { text: string }).text.length).toBe(900 * 1001 - 1);
  expect(await end).toMatchObject({ code: 0 });
  expect((await readdir(place.turnDir)).sort()).toEqual(['door', 'gitconfig', 'input.json', 'output.json']);
});

test('an output that is too long fails the turn, and leaves none', async () => {
  await place.prepare(script({ text: 'x'.repeat(1_000_001) }));
  expect(await run()).toMatchObject({
    code: 1,
    stderr: expect.stringContaining("the turn's output is not valid"),
  });
  await expect(place.output()).rejects.toThrow('ENOENT');
});
