import { spawn } from 'node:child_process';
import { createHash } from 'node:crypto';
import { once } from 'node:events';
import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { buffer } from 'node:stream/consumers';
import { fileURLToPath } from 'node:url';
import { afterAll, beforeAll, expect, test } from '@jest/globals';
import { upload } from '../../services/turn-worker/src/workspace/content-exchange.js';
import type { Content } from '../../services/turn-worker/src/workspace/read-file.js';
import { WorkspaceThreads } from '../../services/turn-worker/src/workspace/workspace-threads.js';
import { WorkspaceTooLarge } from '../../services/turn-worker/src/workspace/workspace-errors.js';
import { type Workspace, Workspaces } from '../../services/turn-worker/src/workspace/workspaces.js';
import { entriesOf, readSnapshot } from '../../shared/protocol/src/workspace-snapshot.js';
import { seed } from '../support/fast-check.js';
import { casesOf } from './support/campaign.js';
import { HostFiles, marker, namesOfHostFiles } from './support/host-files.js';

const agents = 2;
const capturesInRound = 250;

let directory: string;
let outside: HostFiles;
const contents = new Map<string, Buffer>();
const threads = new WorkspaceThreads(
  new URL('../../services/turn-worker/dist/workspace/workspace-thread.js', import.meta.url),
);

beforeAll(async () => {
  directory = await mkdtemp(join(tmpdir(), 'suzumio-captures-'));
  outside = await HostFiles.make(join(directory, 'outside'));
});
afterAll(async () => {
  await threads.close();
  await rm(directory, { recursive: true, force: true });
});

const client = {
  hasContent: (sha256: string) => Promise.resolve(contents.has(sha256)),
  putContent: async (sha256: string, content: Buffer | { stream: () => AsyncIterable<Uint8Array> }) => {
    const bytes = Buffer.isBuffer(content) ? Buffer.from(content) : await buffer(content.stream());
    // What is uploaded is what was hashed, though the file has changed since.
    expect(createHash('sha256').update(bytes).digest('hex')).toBe(sha256);
    expect(bytes.includes(marker)).toBe(false);
    contents.set(sha256, bytes);
  },
};

/** A snapshot is whole: everything that it names was stored, with the length that it says. */
async function requireWhole(id: string): Promise<void> {
  const read = (sha256: string) => Promise.resolve(contents.get(sha256) ?? Buffer.alloc(0));
  for (const { path, entry } of entriesOf(await readSnapshot(id, read))) {
    if (entry.kind !== 'file') continue;
    const stored = contents.get(entry.sha256);
    if (stored?.length !== entry.sizeBytes) throw new Error(`${path} was not stored as the snapshot says`);
  }
}

/** Starts what swaps things in the workspace, as often as it takes. */
function startAgents(workspace: Workspace, round: number): () => Promise<void> {
  const program = fileURLToPath(new URL('support/swapping-agent.mjs', import.meta.url));
  const children = Array.from({ length: agents }, (_, n) => {
    const own = String(seed + round * agents + n);
    return spawn(process.execPath, [program, workspace.directory, outside.directory, own], { stdio: 'ignore' });
  });
  return async () => {
    for (const child of children) {
      child.kill('SIGKILL');
      if (child.exitCode === null && child.signalCode === null) await once(child, 'exit');
    }
  };
}

const bounds = { maxBytes: 1024 ** 3, maxFileBytes: 64 * 1024 * 1024, maxEntries: 20_000 };
const open = (worker: string) =>
  new Workspaces({ workerDir: join(directory, worker), boot: 'boot', bounds, threads }).open(
    { cell: 'c', project: 'p', epoch: 1, agent: 'a' },
    undefined,
  );
const store = (content: Content) => upload(content, client);
const fetch = (sha256: string) => Promise.resolve(chunksOf(contents.get(sha256) ?? Buffer.alloc(0)));

test('captures read and write nothing outside, whatever is swapped, truncated and grown meanwhile', async () => {
  const [workspace, elsewhere] = [await open('worker'), await open('other')];
  const before = await outside.state();
  for (let left = casesOf('captures'), round = 0; left > 0; left -= capturesInRound, round += 1) {
    contents.clear();
    await workspace.bringTo(null, fetch);
    await workspace.expectWrites();
    await besideAgents(workspace, Math.min(left, capturesInRound), round);
    expect(await outside.state()).toEqual(before);

    // What is captured when they have ended is exactly what is there.
    const { id } = await workspace.capture({ store });
    await elsewhere.bringTo(id, fetch);
    await elsewhere.expectWrites();
    expect((await elsewhere.capture({ store })).id).toBe(id);
    expect(await outside.state()).toEqual(before);
  }
  expect(await outside.names()).toEqual(namesOfHostFiles);
});

/** As many captures, and as many different ones that the agents were at it all the time. */
async function besideAgents(workspace: Workspace, count: number, round: number): Promise<void> {
  const stop = startAgents(workspace, round);
  const seen = new Set<string | null>();
  try {
    for (let n = 0; n < count || seen.size < count / 4; n += 1) {
      const captured = await workspace.capture({ store, live: true }).catch((error: unknown) => {
        // They may have grown it beyond its limits: it is captured again.
        if (!(error instanceof WorkspaceTooLarge)) throw error;
      });
      if (captured?.id) await requireWhole(captured.id);
      if (captured) seen.add(captured.id);
      else n -= 1;
    }
  } finally {
    await stop();
  }
}

async function* chunksOf(bytes: Buffer): AsyncGenerator<Uint8Array> {
  yield await Promise.resolve(bytes);
}
