import { readFile } from 'node:fs/promises';
import { Readable } from 'node:stream';
import { mkdirSync, mkdtempSync, readdirSync, rmSync, utimesSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import { afterAll, afterEach, beforeEach, describe, expect, test } from '@jest/globals';
import type { Content } from '../../src/workspace/read-file.js';
import { WorkspaceThreads } from '../../src/workspace/workspace-threads.js';
import { type Workspace, Workspaces } from '../../src/workspace/workspaces.js';

const entry = new URL('../../dist/workspace/workspace-thread.js', import.meta.url);
const threads = new WorkspaceThreads(entry);
afterAll(() => threads.close());

let directory: string;
let workspace: Workspace;
const nothing = () => Promise.reject(new Error('there is nothing to fetch'));
const at = (path: string) => join(workspace.directory, path);

beforeEach(async () => {
  directory = mkdtempSync('/tmp/suzumio-threads-');
  const bounds = { maxBytes: 1e9, maxFileBytes: 1e9, maxEntries: 20_000 };
  const workspaces = new Workspaces({ workerDir: directory, boot: 'boot', bounds, threads });
  workspace = await workspaces.open({ cell: 'c', project: 'p', epoch: 1, agent: 'a' }, undefined);
  await workspace.bringTo(null, nothing);
  await workspace.expectWrites();
});
afterEach(() => rmSync(directory, { recursive: true, force: true }));

/** Where content waits for its upload. */
const staged = () => readdirSync(join(directory, 'downloads/c/p.1/a')).filter((name) => name !== 'clock');

test('a capture fails with what kept its content from being stored, and only when nothing is on its way any more', async () => {
  for (let n = 0; n < 30; n += 1) writeFileSync(at(`f${String(n)}`), `content ${String(n)}`);
  const why = new Error('no room');
  let running = 0;
  const store = async ({ sha256 }: Content) => {
    running += 1;
    await sleep(5);
    running -= 1;
    if (sha256.startsWith('0') || running === 0) throw why;
  };
  await expect(workspace.capture({ store })).rejects.toBe(why);
  expect(running).toBe(0);
});

test('content waits for its upload only as far as it may: not all of a large workspace at a time', async () => {
  const sizes = Array.from({ length: 12 }, (_, n) => 6_000_000 + n);
  for (const size of sizes) writeFileSync(at(`f${String(size)}`), Buffer.alloc(size, 'x'));
  let [running, most, files] = [0, 0, 0];
  const store = async ({ sizeBytes }: Content) => {
    running += sizeBytes;
    most = Math.max(most, running);
    files = Math.max(files, staged().length);
    await sleep(20);
    running -= sizeBytes;
  };
  await workspace.capture({ store });
  expect(most).toBeLessThan(16 * 1024 * 1024);
  // What is read meanwhile waits for its turn.
  expect(files).toBeLessThan(5);
  expect(staged()).toEqual([]);
});

test('a capture ends soon when it is told to, and another one is not disturbed by its remains', async () => {
  for (let n = 0; n < 5; n += 1) writeFileSync(at(`f${String(n)}`), Buffer.alloc(1_000_000, String(n)));
  const stopping = new AbortController();
  const store = () => {
    stopping.abort(new Error('the attempt is over'));
    // Longer than the thread takes to hear of it.
    return sleep(500);
  };
  await expect(workspace.capture({ store, signal: stopping.signal })).rejects.toThrow('the attempt is over');
  const stored: string[] = [];
  const { id } = await workspace.capture({ store: ({ sha256 }) => Promise.resolve(void stored.push(sha256)) });
  expect(stored).toHaveLength(6);
  expect(stored).toContain(id);
});

test('what was stored for a capture that failed is stored again', async () => {
  writeFileSync(at('a'), 'one');
  const refused = () => Promise.reject(new Error('no room'));
  await expect(workspace.capture({ store: refused })).rejects.toThrow('no room');
  const stored: Content[] = [];
  await workspace.capture({ store: (content) => Promise.resolve(void stored.push(content)) });
  expect(stored).toHaveLength(2);
});

test('a large workspace leaves the event loop free', async () => {
  for (let d = 0; d < 100; d += 1) {
    mkdirSync(at(`d${String(d)}`));
    for (let f = 0; f < 50; f += 1) writeFileSync(at(`d${String(d)}/f${String(f)}`), '');
  }
  const store = () => Promise.resolve();
  await workspace.capture({ store });
  let turns = 0;
  const turning = new AbortController();
  const turn = () => {
    turns += 1;
    if (!turning.signal.aborted) setImmediate(turn);
  };
  turn();
  await workspace.capture({ store });
  turning.abort();
  // A walk of five thousand files takes some milliseconds: the loop goes round many times meanwhile.
  expect(turns).toBeGreaterThan(20);
});

test('workspaces are captured side by side', async () => {
  const bounds = { maxBytes: 1e9, maxFileBytes: 1e9, maxEntries: 20_000 };
  const workspaces = new Workspaces({ workerDir: directory, boot: 'boot', bounds, threads });
  const all = await Promise.all(
    Array.from({ length: 24 }, async (_, n) => {
      const agent = { cell: 'c', project: 'many', epoch: 1, agent: `a${String(n)}` };
      const one = await workspaces.open(agent, undefined);
      await one.bringTo(null, nothing);
      await one.expectWrites();
      writeFileSync(join(one.directory, 'x'), String(n % 5));
      utimesSync(join(one.directory, 'x'), 1_000, 1_000);
      const { id } = await one.capture({ store: () => sleep(2) });
      await one.settle(id);
      return { agent, id };
    }),
  );
  expect(new Set(all.map(({ id }) => id)).size).toBe(5);
  // More of them than a thread keeps in memory: the rest is written down.
  for (const { agent, id } of all) await (await workspaces.open(agent, undefined)).bringTo(id, nothing);
});

describe('a worker with little memory', () => {
  const small = new WorkspaceThreads(entry, 128 * 1024 ** 2);
  afterAll(() => small.close());
  const bounds = { maxBytes: 1e9, maxFileBytes: 1e9, maxEntries: 50_000 };
  const opened = async (agent: string) => {
    const workspaces = new Workspaces({ workerDir: directory, boot: 'boot', bounds, threads: small });
    const one = await workspaces.open({ cell: 'c', project: 'p', epoch: 1, agent }, undefined);
    await one.expectWrites();
    return one;
  };
  const contents = new Map<string, Uint8Array>();
  const store = async (content: Content) => {
    contents.set(content.sha256, 'bytes' in content ? content.bytes : await readFile(content.file));
  };
  const fetch = (sha256: string) => Promise.resolve(Readable.from([contents.get(sha256) ?? '']));
  const fill = ({ directory: at }: Workspace, files: number, mark: string, characters: number) => {
    for (let n = 0; n < files; n += 1) writeFileSync(join(at, `${String(n)}${mark}${'x'.repeat(characters)}`), '');
  };

  test('does what takes long by itself: captures it, captures it again, and restores it elsewhere', async () => {
    const agents = ['a', 'b'];
    const ids = await Promise.all(
      agents.map(async (agent) => {
        const one = await opened(agent);
        fill(one, 4_000, agent, 240);
        await one.capture({ store, live: true });
        writeFileSync(join(one.directory, 'more'), agent);
        const { id } = await one.capture({ store });
        await one.settle(id);
        return id;
      }),
    );
    const others = await Promise.all(
      ids.map(async (id, number) => {
        const one = await opened(`other-${String(number)}`);
        await one.bringTo(id, fetch);
        return readdirSync(one.directory).length;
      }),
    );
    expect(others).toEqual([4_001, 4_001]);
  });

  test('refuses what has no room at all, and does what others ask meanwhile', async () => {
    const large = await opened('large');
    fill(large, 49_000, '€', 240);
    const refused = expect(large.capture({ store })).rejects.toMatchObject({
      name: 'WorkspaceTooLarge',
      message: expect.stringMatching(
        /takes more than the 48 MiB of memory that this worker has to read them: have fewer/,
      ),
    });
    for (const agent of ['c', 'd', 'e']) {
      const one = await opened(agent);
      fill(one, 10, agent, 1);
      expect((await one.capture({ store })).id).toMatch(/^[0-9a-f]{64}$/);
    }
    await refused;
  });
});
