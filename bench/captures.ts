import { lstatSync, mkdirSync, readdirSync, writeFileSync } from 'node:fs';
import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { monitorEventLoopDelay } from 'node:perf_hooks';
import { setTimeout as sleep } from 'node:timers/promises';
import type { Content } from '../services/turn-worker/src/workspace/read-file.js';
import { WorkspaceThreads } from '../services/turn-worker/src/workspace/workspace-threads.js';
import { type Workspace, Workspaces } from '../services/turn-worker/src/workspace/workspaces.js';
import { median, type Spread, spread } from './statistics.js';

export interface CapturesPlan {
  /** Sizes of workspaces. */
  files: readonly number[];
  rounds: number;
}

/** What a capture costs of a workspace in which one small file changed. */
export interface CapturesFigures {
  files: number;
  captureMs: Spread;
  /** Its processor time, in all threads of the worker. */
  processorMs: Spread;
  /** A walk by path that asks the system about everything and reads nothing. */
  walkMs: Spread;
  /** The capture, in walks. */
  ratio: number;
  /** The longest that anything else in the worker's process waited meanwhile. */
  loopDelayMs: Spread;
  /** What was uploaded: the file, and the manifests on its way. */
  uploadedBytes: number;
  /** When nothing is known of the workspace, everything is read. */
  firstMs: number;
}

const filesOfDirectory = 49;
/** So old are files that their pages were written back; a capture need not doubt them. */
const settleMs = 100;

/** Captures without their uploads, beside a plain walk, by turns. */
export async function measureCaptures({ files, rounds }: CapturesPlan): Promise<CapturesFigures[]> {
  const figures: CapturesFigures[] = [];
  for (const count of files) {
    const directory = await mkdtemp(join(tmpdir(), 'suzumio-captures-'));
    const threads = new WorkspaceThreads(
      new URL('../services/turn-worker/dist/workspace/workspace-thread.js', import.meta.url),
    );
    try {
      const bounds = { maxBytes: 1024 ** 3, maxFileBytes: 1024 ** 3, maxEntries: 20_000 };
      const workspaces = new Workspaces({ workerDir: directory, boot: 'bench', bounds, threads });
      const workspace = await workspaces.open({ cell: 'c', project: 'p', epoch: 1, agent: 'a' }, undefined);
      await workspace.bringTo(null, () => Promise.reject(new Error('there is nothing to fetch')));
      await workspace.expectWrites();
      fill(workspace.directory, count);
      figures.push(await measure(workspace, count, rounds));
    } finally {
      await threads.close();
      await rm(directory, { recursive: true, force: true });
    }
  }
  return figures;
}

async function measure(workspace: Workspace, files: number, rounds: number): Promise<CapturesFigures> {
  const uploaded: number[] = [];
  const captureMs: number[] = [];
  const processorMs: number[] = [];
  const walkMs: number[] = [];
  const loopDelayMs: number[] = [];
  await sleep(settleMs);
  const firstMs = (await capture(workspace)).ms;
  for (let round = 0; round < rounds; round += 1) {
    writeFileSync(join(workspace.directory, 'd0/s0/file-0.txt'), `changed ${String(round)}`);
    await sleep(settleMs);
    const one = await capture(workspace);
    captureMs.push(one.ms);
    processorMs.push(one.processorMs);
    loopDelayMs.push(one.delayMs);
    uploaded.push(one.bytes);
    const begunAt = performance.now();
    walk(workspace.directory);
    walkMs.push(performance.now() - begunAt);
  }
  const [captured, floor] = [spread(captureMs), spread(walkMs)];
  return {
    files,
    captureMs: captured,
    processorMs: spread(processorMs),
    walkMs: floor,
    ratio: captured.p50 / floor.p50,
    loopDelayMs: spread(loopDelayMs),
    uploadedBytes: median(uploaded),
    firstMs,
  };
}

interface Capture {
  ms: number;
  processorMs: number;
  delayMs: number;
  bytes: number;
}

async function capture(workspace: Workspace): Promise<Capture> {
  let bytes = 0;
  const store = ({ sizeBytes }: Content) => {
    bytes += sizeBytes;
    return Promise.resolve();
  };
  const delay = monitorEventLoopDelay({ resolution: 1 });
  delay.enable();
  const [begunAt, usedBefore] = [performance.now(), process.cpuUsage()];
  await workspace.capture({ store, live: true });
  const [ms, { user, system }] = [performance.now() - begunAt, process.cpuUsage(usedBefore)];
  delay.disable();
  return { ms, processorMs: (user + system) / 1_000, delayMs: delay.max / 1e6, bytes };
}

/** Small files in directories of some fifty. */
function fill(root: string, count: number): void {
  for (let made = 0, directory = 0; made + directory + 22 < count; directory += 1) {
    const path = join(root, `d${String(directory % 20)}/s${String(directory)}`);
    mkdirSync(path, { recursive: true });
    for (let file = 0; file < filesOfDirectory && made + directory + 21 < count; file += 1, made += 1) {
      writeFileSync(join(path, `file-${String(file)}.txt`), `content ${String(directory)} ${String(file)} `.repeat(30));
    }
  }
}

function walk(directory: string): void {
  for (const name of readdirSync(directory)) {
    const path = `${directory}/${name}`;
    if (lstatSync(path).isDirectory()) walk(path);
  }
}
