import { stat, writeFile } from 'node:fs/promises';
import { afterEach, beforeEach, expect, test } from '@jest/globals';
import { usualWorkspaceLimits } from '@suzumio/protocol/workspace-manifest';
import { type SmallDisk, smallDisk } from '../../../test/support/small-disk.js';
import { agentImage } from './support/images.js';
import type { TestTurn } from './support/test-toolhost.js';
import { until } from './support/until.js';
import { type TurnSpec, World } from './support/world.js';

const mib = 1024 * 1024;
const imports = `
import fs from 'node:fs';
const done = () => fs.writeFileSync('/turn/output.json', JSON.stringify({ text: 'fine' }));
const write = (file, count) => { for (let i = 0; i < count; i++) fs.writeSync(file, Buffer.alloc(${mib}, 1)); };
const goOn = () => setInterval(() => {}, 1000);
`;
/** Goes on until the test asks it to end. */
const waits = `const look = setInterval(() => { if (fs.existsSync('/workspace/go')) { clearInterval(look); done(); } }, 20);`;
/** Files in memory count as memory of the container that writes them. */
const sandbox = { memoryBytes: 1024 * mib };

const workspaceLimits = { ...usualWorkspaceLimits, maxBytes: 48 * mib };

const image = agentImage();
let disk: SmallDisk;
let world: World;

beforeEach(async () => {
  disk = await smallDisk(160 * mib, 6_000);
  world = await World.open({
    settings: { workerDir: `${disk.path}/w` },
    limits: { sizeCheckMs: 100, minFreeBytes: 64 * mib },
  });
});

afterEach(async () => {
  await world.close();
  await disk.close();
});

const give = (agent: string, program: string, spec: TurnSpec = {}) =>
  world.give({ image: image.name, agent, program: imports + program, sandbox, workspaceLimits, ...spec });
const ended = (turn: TestTurn) => world.toolhost.ended(turn.answer.input.turn.id);
const fileOf = (agent: string, name: string) => `${disk.path}/w/workspaces/${world.cell}/paper.1/${agent}/${name}`;
const letEnd = (agent: string) => writeFile(fileOf(agent, 'go'), '');
const hasWritten = (agent: string, bytes: number) =>
  until(async () => (await stat(fileOf(agent, 'x')).catch(() => undefined))?.size === bytes, `${agent} to write`);

test('a turn that fills it with files that have no name any more is ended, and its neighbours go on', async () => {
  const neighbour = await give('neighbour', waits);
  await world.containerOf(neighbour);
  const filler = await give(
    'filler',
    `for (let i = 0; i < 7; i++) {
       const file = fs.openSync('/workspace/x', 'w');
       fs.unlinkSync('/workspace/x');
       write(file, 20);
     }
     goOn();`,
  );
  expect((await ended(filler)).failed?.failure).toMatchObject({
    code: 'workspace-too-large',
    message: expect.stringContaining('no name any more'),
  });
  await until(() => world.worker.ready, 'the worker to take jobs again');
  await letEnd('neighbour');
  expect((await ended(neighbour)).completed?.output.text).toBe('fine');
  expect((await ended(await give('next', `done();`))).completed?.output.text).toBe('fine');
});

test('turns within their bounds that fill it together: the one that takes most ends, at no cost, and the others go on', async () => {
  const small = await give('small', `write(fs.openSync('/workspace/x', 'w'), 10); ${waits}`);
  const large = await give('large', `write(fs.openSync('/workspace/x', 'w'), 40); ${waits}`);
  await hasWritten('small', 10 * mib);
  await hasWritten('large', 40 * mib);
  await disk.fill(16 * mib);
  expect((await ended(large)).failed?.failure.code).toBe('disk-full');
  await disk.empty();
  await letEnd('small');
  expect((await ended(small)).completed?.output.text).toBe('fine');
});

test('where there is room for no more files, the turn that has made most ends, at no cost, and the others go on', async () => {
  const large = await give('large', `write(fs.openSync('/workspace/x', 'w'), 40); ${waits}`);
  await hasWritten('large', 40 * mib);
  const many = await give('many', `for (let i = 0; i < 4_500; i++) fs.writeFileSync('/workspace/' + i, ''); ${waits}`);
  expect((await ended(many)).failed?.failure.code).toBe('disk-full');
  await letEnd('large');
  expect((await ended(large)).completed?.output.text).toBe('fine');
});

test.each([
  ['bytes', () => disk.fill(8 * mib)],
  ['files', () => disk.fillFiles(1_000)],
])('while there are few %s left no turn is claimed', async (_what, fill) => {
  await fill();
  // Where nothing runs, the attempt that meets it tells of it.
  const met = await give('met', `done();`);
  expect((await ended(met)).failed?.failure.code).toBe('disk-full');
  await until(() => !world.worker.ready, 'the worker to take no jobs');
  const told = async () => (await world.transport.fleet())[0];
  await until(async () => (await told())?.problem === 'disk-full', 'the worker to say so');
  expect(await told()).toMatchObject({ slots: 0 });
  const later = await give('later', `done();`);
  await disk.empty();
  expect((await ended(later)).completed?.output.text).toBe('fine');
});
