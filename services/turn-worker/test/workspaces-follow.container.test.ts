import { readFileSync } from 'node:fs';
import { readdir, readFile, writeFile } from 'node:fs/promises';
import { afterAll, beforeAll, expect, test } from '@jest/globals';
import { agentCommand, baseImage, deriveImage, runnerImage } from './support/images.js';
import { World } from './support/world.js';

/** Counts its turns in a file, and fails in the middle when its prompt's script says so. */
const counting = `
import fs from 'node:fs';
const { runner } = JSON.parse(fs.readFileSync('/turn/input.json', 'utf8'));
const count = fs.existsSync('/workspace/count') ? Number(fs.readFileSync('/workspace/count', 'utf8')) : 0;
fs.writeFileSync('/workspace/count', String(count + 1));
fs.writeFileSync('/workspace/turn-' + (count + 1), '');
if (runner.script[0].steps.length > 1) process.exit(1);
fs.writeFileSync('/turn/output.json', JSON.stringify({ text: String(count + 1) }));
`;

let world: World;
let image: Awaited<ReturnType<typeof deriveImage>>;

beforeAll(async () => {
  image = await deriveImage(baseImage, [agentCommand, 'LABEL suzumio.runner=1']);
  world = await World.open();
});

afterAll(async () => {
  await world.close();
  await image.remove();
});

async function turn(
  snapshot: string | null,
  fails = false,
): Promise<{ text?: string | undefined; snapshot: string | null }> {
  const steps = fails ? [{ text: 'fail' }, { text: 'please' }] : [{ text: 'go on' }];
  const { completed } = await world.run({ image: image.name, snapshot, steps });
  return { text: completed?.output.text, snapshot: completed?.snapshot ?? null };
}

test('an agent finds its files from turn to turn, whatever happens to its worker', async () => {
  const first = await turn(world.snapshotOf({ 'agent.mjs': counting }));
  expect(first.text).toBe('1');

  expect((await turn(first.snapshot, true)).text).toBeUndefined();
  const second = await turn(first.snapshot);
  expect(second.text).toBe('2');
  const files = `${world.directory}/w/workspaces/${world.cell}/paper.1/writer`;
  expect((await readdir(files)).sort()).toEqual(['agent.mjs', 'count', 'turn-1', 'turn-2']);

  // The next turn is another worker's.
  await world.worker.stop();
  world.worker = world.newWorker({ workerDir: `${world.directory}/w2` });
  await world.worker.start();
  const third = await turn(second.snapshot);
  expect(third.text).toBe('3');

  // And the one after that is the first worker's again, whose files are behind.
  await world.worker.stop();
  world.worker = world.newWorker();
  await world.worker.start();
  expect((await turn(third.snapshot)).text).toBe('4');
  expect(await readFile(`${files}/count`, 'utf8')).toBe('4');
});

test('a workspace is looked at where something may have written in it', async () => {
  // What is built on Suzumio's image may write before its runner starts.
  const built = await deriveImage(runnerImage, [
    `ENTRYPOINT ["sh", "-c", "echo > /workspace/$HOSTNAME && exec node /opt/suzumio/runner.mjs"]`,
  ]);
  try {
    for (const [name, scanned] of [
      [runnerImage, false],
      [built.name, true],
    ] as const) {
      const agent = scanned ? 'built' : 'ours';
      const first = await world.run({ image: name, agent, steps: [{ write: { path: 'a', text: 'a' } }] });
      const snapshot = first.completed?.snapshot ?? null;
      expect(await world.toolhost.filesOf(snapshot)).toHaveProperty('a');
      // What nobody may write is seen when it is looked at.
      await writeFile(`${world.directory}/w/workspaces/${world.cell}/paper.1/${agent}/planted`, '');
      const call = { tool: 'messages.send', input: { recipient: 'user', priority: 'P1', body: 'x' } };
      const talk = await world.run({ image: name, agent, snapshot, steps: [call, { text: 'done' }] });
      expect(talk.completed?.output.text).toBe('done');
      if (scanned) expect(await world.toolhost.filesOf(talk.completed?.snapshot)).toHaveProperty('planted');
      else expect(talk.completed?.snapshot).toBe(snapshot);
      const steps = [{ run: { command: 'echo b > b' } }];
      const ran = await world.run({ image: name, agent, snapshot: talk.completed?.snapshot ?? null, steps });
      expect(await world.toolhost.filesOf(ran.completed?.snapshot)).toMatchObject({ a: {}, b: {}, planted: {} });
    }
  } finally {
    await built.remove();
  }
});

test('what a workspace holds is recorded before its turn has ended, for the next one may begin at once', async () => {
  const sidecar = `${world.directory}/w/snapshots/${world.cell}/paper.1/quick.json`;
  let recorded: unknown;
  world.toolhost.intercept = ({ url }) => {
    if (url?.endsWith('/complete')) recorded = JSON.parse(readFileSync(sidecar, 'utf8'));
    return undefined;
  };
  try {
    const { completed } = await world.run({ agent: 'quick', steps: [{ write: { path: 'a', text: 'a' } }] });
    expect(completed?.snapshot).toMatch(/^[0-9a-f]{64}$/);
    expect(recorded).toMatchObject({ at: { snapshot: completed?.snapshot } });
  } finally {
    world.toolhost.intercept = () => undefined;
  }
});

test('a snapshot that cannot be had fails the attempt before it starts', async () => {
  const missing = await world.run({ image: image.name, agent: 'other', snapshot: 'a'.repeat(64) });
  expect(missing.failed?.failure).toMatchObject({
    code: 'workspace-unavailable',
    message: expect.stringContaining('snapshot'),
  });
});
