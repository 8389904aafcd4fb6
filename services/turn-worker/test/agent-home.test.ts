import { mkdir, mkdtemp, readdir, rename, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterEach, beforeEach, expect, test } from '@jest/globals';
import { StopSwitch } from '../src/attempt/stop-switch.js';
import type { TurnDirectory } from '../src/attempt/turn-directory.js';
import { watchSandbox } from '../src/attempt/watch-sandbox.js';
import { boundsOf } from '../src/workspace/workspace-bounds.js';
import type { SandboxEnd } from '../src/engine/turn-engine.js';
import { removeTree } from '../src/files/remove-tree.js';
import { type AgentHome, Workspaces } from '../src/workspace/workspaces.js';
import { until } from './support/until.js';

let root: string;
let workspaces: Workspaces;
beforeEach(async () => {
  root = await mkdtemp(join(tmpdir(), 'suzumio-home-'));
  const bounds = { maxBytes: 1_000_000, maxFileBytes: 1_000_000, maxEntries: 100 };
  // No workspace is opened.
  workspaces = new Workspaces({ workerDir: root, boot: 'b', bounds, threads: undefined as never });
  for (const name of ['workspace', 'own', 'turn']) await mkdir(join(root, name));
});
afterEach(() => removeTree(root));

const home = () => workspaces.home({ cell: 'c', project: 'p', epoch: 1, agent: 'dev' }, undefined);

/** Watches a sandbox in which `write` is done, until `seen` is true or it is stopped. */
async function watched(
  of: AgentHome,
  seen: () => boolean,
  canMend = false,
): Promise<{ tooLarge: string | undefined; reason: unknown }> {
  const stop = new StopSwitch();
  const ended = Promise.withResolvers<SandboxEnd>();
  const sandbox = {
    id: 's',
    ended: ended.promise,
    disturbed: new AbortController().signal,
    unlinkedBytes: () => Promise.resolve(0),
    whileReadable: <Result>(work: () => Promise<Result>) => work(),
    kill: () => {
      ended.resolve({ exitCode: 137 });
      return Promise.resolve();
    },
    log: () => Promise.resolve(Buffer.alloc(0)),
    release: () => undefined,
  };
  const watching = watchSandbox({
    sandbox,
    directory: { path: join(root, 'turn'), watchOutput: () => () => undefined } as unknown as TurnDirectory,
    workspace: {
      directory: join(root, 'workspace'),
      ownArtifacts: join(root, 'own'),
      isIgnored: () => false,
      bounds: boundsOf({ maxBytes: 100_000, maxFiles: 5 }),
    },
    home: of,
    disk: { add: () => () => undefined, freeBytes: () => Promise.resolve(1e12), wasShort: false },
    stop,
    canMend,
    timeoutMs: 600_000,
    limits: {
      lingerMs: 1_000,
      sizeCheckMs: 5,
      maxOutputBytes: 1_000,
    },
    ofHome: { homeBytes: 1_000_000, homeFiles: 40 },
    now: () => performance.now(),
  });
  await until(() => seen() || stop.reason !== undefined, 'what is written is seen');
  ended.resolve({ exitCode: 0 });
  return { tooLarge: (await watching).tooLarge, reason: stop.reason };
}

/** A home that tells how often it was measured. */
async function observed(): Promise<{ home: AgentHome; looks: () => number }> {
  const own = await home();
  let looks = 0;
  const noteFull: AgentHome['noteFull'] = (why) => {
    looks += 1;
    own.noteFull(why);
  };
  return { home: { ...own, noteFull }, looks: () => looks };
}

const fill = async (of: AgentHome, files: number) => {
  for (let n = 0; n < files; n += 1) await writeFile(join(of.directory, `f${n}`), 'x');
};

test('a home may be larger than a workspace, and is kept while it is less than half full', async () => {
  const { home: own, looks } = await observed();
  await fill(own, 15);
  expect(await watched(own, () => looks() > 1)).toEqual({ tooLarge: undefined, reason: undefined });
  const next = await home();
  expect(next.emptied).toBeUndefined();
  expect(await readdir(next.directory)).toHaveLength(15);
});

test('a home that is half full is emptied before the next turn, which is told', async () => {
  const { home: own, looks } = await observed();
  await fill(own, 30);
  expect(await watched(own, () => looks() > 1)).toMatchObject({ reason: undefined });
  const next = await home();
  expect(next.emptied).toBe('30 files of at most 40');
  expect(await readdir(next.directory)).toEqual([]);
  expect((await home()).emptied).toBeUndefined();
});

test('a turn that fills its home beyond its bounds is ended', async () => {
  const { home: own } = await observed();
  await fill(own, 50);
  expect(await watched(own, () => false)).toEqual({
    tooLarge: 'more than 40 files and directories in its home directory',
    reason: 'workspace-too-large',
  });
  expect((await home()).emptied).toBe('41 files of at most 40');
});

test('a workspace may have as much as a home while a model can mend it, and otherwise its own bounds end the turn', async () => {
  const { home: own, looks } = await observed();
  const write = async (from: number, to: number) => {
    for (let n = from; n < to; n += 1) await writeFile(join(root, 'workspace', `f${n}`), 'x');
  };
  await write(0, 30);
  expect(await watched(own, () => looks() > 1, true)).toEqual({ tooLarge: undefined, reason: undefined });
  const ended = { tooLarge: expect.stringMatching(/^more than \d+ (files|bytes)/), reason: 'workspace-too-large' };
  expect(await watched(own, () => false)).toEqual(ended);
  await write(30, 50);
  expect(await watched(own, () => false, true)).toEqual({ ...ended, tooLarge: 'more than 40 files and directories' });
});

test('a path that is too long to be looked at ends a turn, unless a model can mend it', async () => {
  const { home: own, looks } = await observed();
  // No system call takes such a path, so it is made of two.
  const half = (name: string) => join(root, 'workspace', name, ...Array.from({ length: 8 }, () => 'd'.repeat(255)));
  for (const name of ['upper', 'lower']) await mkdir(half(name), { recursive: true });
  await rename(join(root, 'workspace/lower'), join(half('upper'), 'lower'));
  expect(await watched(own, () => looks() > 1, true)).toEqual({ tooLarge: undefined, reason: undefined });
  expect(await watched(own, () => false)).toMatchObject({
    tooLarge: expect.stringContaining('a path that is too long'),
  });
});
