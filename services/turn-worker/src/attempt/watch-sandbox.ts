import type { Policy } from '@suzumio/core/policy/policy';
import type { Sandbox, SandboxEnd } from '../engine/turn-engine.js';
import type { TreeBounds, TreeSize } from '../files/tree-size.js';
import type { AgentHome, Workspace } from '../workspace/workspaces.js';
import { type CachedWorkspace, cachesIn, isCache, removeCaches } from './host-caches.js';
import { SizeWatch } from './size-watch.js';
import type { StopSwitch } from './stop-switch.js';
import type { TurnDirectory } from './turn-directory.js';
import type { WorkerDisk } from './worker-disk.js';

export interface WatchOptions {
  sandbox: Sandbox;
  directory: TurnDirectory;
  workspace: CachedWorkspace & Pick<Workspace, 'bounds' | 'ownArtifacts'>;
  /** Where its programs keep caches, with bounds of its own. */
  home: AgentHome | undefined;
  disk: Pick<WorkerDisk, 'add' | 'freeBytes' | 'wasShort'>;
  stop: StopSwitch;
  /** Whether a model in the turn is told of a workspace over its bounds, and can mend it: it then may have as much as a home. */
  canMend: boolean;
  timeoutMs: number;
  limits: {
    lingerMs: number;
    sizeCheckMs: number;
    maxOutputBytes: number;
  };
  /** Of a home, and of what is not captured of the workspace: policy. */
  ofHome: Pick<Policy['ceilings'], 'homeBytes' | 'homeFiles'>;
  now: () => number;
}

export interface Watched {
  end: SandboxEnd;
  /** How its directories exceed their limits, if they do. */
  tooLarge: string | undefined;
  /** Whether the worker's disk was full at the end. */
  diskWasShort: boolean;
}

/**
 * How many files a turn's directory may hold beside the workspace: the input, the door, the output and its temporary
 * file.
 */
const turnFiles = 16;

/**
 * Waits for a sandbox to end, on its own or because it is killed: its time limit has passed, its directories are too
 * large, the disk is full, it lingers after its output, or the attempt is stopped.
 *
 * @throws AttemptFailure when it has to be killed and cannot be
 */
export async function watchSandbox(options: WatchOptions): Promise<Watched> {
  const { sandbox, directory, workspace, disk, stop, timeoutMs, limits } = options;
  let tooLarge: string | undefined;
  const stopTooLarge = (why: string) => {
    tooLarge = why;
    stop.stop('workspace-too-large');
  };
  const sizes = watchSizes(options, stopTooLarge);
  const leaveDisk = disk.add({
    measure: () => sizes.measure(),
    end: (beyond) => (beyond === undefined ? stop.stop('disk-full') : stopTooLarge(beyond)),
  });
  const timers: NodeJS.Timeout[] = [setTimeout(() => stop.stop('time-limit'), timeoutMs)];
  const over = new AbortController();
  const unwatch = directory.watchOutput(limits.maxOutputBytes, () => {
    // A check of the directory may complete after the sandbox has ended.
    if (!over.signal.aborted) timers.push(setTimeout(() => stop.stop('lingering'), limits.lingerMs));
  });
  const killFailed = new Promise<never>((_resolve, reject) => {
    const kill = () => {
      sandbox.kill().catch(reject);
    };
    if (stop.stopped.aborted) kill();
    else stop.stopped.addEventListener('abort', kill, { once: true, signal: over.signal });
  });
  let watched: Watched;
  try {
    const end = await Promise.race([sandbox.ended, killFailed]);
    // A sandbox that may write no more can exit on its own, before a check finds it.
    if (end.exitCode !== 0) tooLarge ??= await sizes.check();
    watched = { end, tooLarge, diskWasShort: disk.wasShort };
  } finally {
    // Without a reason, an error is made for nobody, with its stack.
    over.abort('over');
    unwatch();
    leaveDisk();
    for (const timer of timers) clearTimeout(timer);
    await sizes.stop();
  }
  // They would end the next turn, too. A sandbox that could not be killed may still write there, and put a link in the place of
  // one: it has not come so far.
  if (sizes.cachesTooLarge()) await removeCaches(workspace);
  return watched;
}

/** Watches how large the directories of a turn are: its own, its home, and those that are not captured. */
function watchSizes(
  { sandbox, directory, workspace, home, disk, canMend, limits, ofHome, now }: WatchOptions,
  onTooLarge: (why: string) => void,
) {
  let cachesTooLarge = false;
  const homeBounds = { maxBytes: ofHome.homeBytes, maxEntries: ofHome.homeFiles };
  const bounds = {
    maxBytes: workspace.bounds.maxBytes + 2 * limits.maxOutputBytes,
    maxEntries: workspace.bounds.maxEntries + turnFiles,
  };
  const own = new SizeWatch({
    directories: () => [workspace.directory, workspace.ownArtifacts, directory.path],
    leave: isCache(workspace),
    bounds,
    endsAt: canMend ? larger(bounds, homeBounds) : undefined,
    unlinked: { bytes: () => sandbox.unlinkedBytes(), freeBytes: () => disk.freeBytes() },
    everyMs: limits.sizeCheckMs,
    now,
    onTooLarge,
  });
  const homeSize = home && watchHome(home, homeBounds, { limits, now }, onTooLarge);
  const caches = new SizeWatch({
    directories: () => cachesIn(workspace),
    within: workspace.directory,
    bounds: homeBounds,
    everyMs: limits.sizeCheckMs,
    now,
    onTooLarge: (why) => {
      cachesTooLarge = true;
      onTooLarge(`${why} in directories that are not captured, such as node_modules`);
    },
  });
  return {
    measure: async () => together(together(await own.measure(), await homeSize?.measure()), await caches.measure()),
    /** How its own directories exceed their limits now, if they do. */
    check: () => own.check(),
    cachesTooLarge: () => cachesTooLarge,
    stop: () => Promise.all([own.stop(), homeSize?.stop(), caches.stop()]),
  };
}

function larger(one: TreeBounds, other: TreeBounds): TreeBounds {
  return {
    maxBytes: Math.max(one.maxBytes, other.maxBytes),
    maxEntries: Math.max(one.maxEntries, other.maxEntries),
  };
}

/** A home is no part of the workspace, and may be much larger. */
function watchHome(
  home: AgentHome,
  bounds: TreeBounds,
  { limits, now }: Pick<WatchOptions, 'limits' | 'now'>,
  onTooLarge: (why: string) => void,
): SizeWatch {
  return new SizeWatch({
    directories: () => [home.directory],
    bounds,
    everyMs: limits.sizeCheckMs,
    now,
    onTooLarge: (why) => onTooLarge(`${why} in its home directory`),
    onMeasured: (size) => home.noteFull(fullness(size, bounds)),
  });
}

/** A home that is half full begins anew, so that each turn has room. It is only measured while its programs run. */
function fullness({ bytes, entries }: TreeSize, { maxBytes, maxEntries }: TreeBounds): string | undefined {
  if (bytes > maxBytes / 2) return `${bytes} bytes of at most ${maxBytes}`;
  return entries > maxEntries / 2 ? `${entries} files of at most ${maxEntries}` : undefined;
}

function together(own: TreeSize, home: TreeSize | undefined): TreeSize {
  if (!home) return own;
  const beyond = own.beyond ?? home.beyond;
  const sum = { bytes: own.bytes + home.bytes, entries: own.entries + home.entries };
  return beyond === undefined ? sum : { ...sum, beyond };
}
