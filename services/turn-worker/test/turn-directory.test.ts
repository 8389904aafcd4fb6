import { mkdtemp, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterEach, beforeEach, expect, jest, test } from '@jest/globals';
import { maxOutputBytes } from '@suzumio/protocol/runner';
import { makeTurnDirectories, TurnDirectory } from '../src/attempt/turn-directory.js';
import { until } from './support/until.js';

let root: string;
let directory: TurnDirectory;
beforeEach(async () => {
  root = await mkdtemp(join(tmpdir(), 'suzumio-turn-'));
  await makeTurnDirectories(root);
  const ref = { cell: 'cell', project: 'tides', epoch: 1, agent: 'ada', turn: 'turn_1', attempt: 1 };
  directory = await TurnDirectory.create({ path: root, sockets: join(root, 'd') }, ref, undefined);
});
afterEach(() => rm(root, { recursive: true }));

/** A list as deep as it is long; parsing one of 4 MB takes seconds. */
const nested = (depth: number) => '['.repeat(depth) + ']'.repeat(depth);

test.each([
  ['an output', '{"text":"Done."}', { kind: 'valid', output: { text: 'Done.' } }],
  ['a long text', `{"text":"${'[,'.repeat(400_000)}"}`, { kind: 'valid' }],
  ['fields that are not known', '{"text":"Done.","more":[1,2,3]}', { kind: 'valid', output: { text: 'Done.' } }],
  ['an output that is cut off', '{"text":"Do', { kind: 'invalid', why: 'is not JSON, or was cut off' }],
  [
    'more lists than are parsed',
    `{"text":"Done.","more":${nested(2_000_000)}}`,
    { kind: 'invalid', why: 'has more than 20000 members in its lists and objects' },
  ],
])('reads %s', async (_what, text, read) => {
  await writeFile(join(directory.path, 'output.json'), text);
  expect(await directory.readOutput(maxOutputBytes)).toMatchObject(read);
});

test('an output is looked for now and then, however often it changes', async () => {
  const read = jest.spyOn(directory, 'readOutput');
  const stop = directory.watchOutput(maxOutputBytes, () => undefined, 600_000);
  for (let n = 0; n < 50; n += 1) await writeFile(join(directory.path, 'output.json'), String(n));
  await new Promise((resolve) => setTimeout(resolve, 50));
  stop();
  expect(read).not.toHaveBeenCalled();
});

test('an output that appears is told once', async () => {
  let told = 0;
  const stop = directory.watchOutput(maxOutputBytes, () => (told += 1), 1);
  await writeFile(join(directory.path, 'output.json'), '{"text":');
  await writeFile(join(directory.path, 'output.json'), '{"text":"Done."}');
  await until(() => told > 0, 'the output is seen');
  await new Promise((resolve) => setTimeout(resolve, 50));
  stop();
  expect(told).toBe(1);
});
