import type { Sandbox, SandboxEnd } from '../engine/turn-engine.js';
import { SizeWatch } from './size-watch.js';
import type { StopSwitch } from './stop-switch.js';
import type { TurnDirectory } from './turn-directory.js';
import type { WorkerDisk } from './worker-disk.js';

export interface WatchOptions {
  sandbox: Sandbox;
  directory: TurnDirectory;
  workspace: string;
  disk: Pick<WorkerDisk, 'add' | 'wasShort'>;
  stop: StopSwitch;
  timeoutMs: number;
  limits: {
    lingerMs: number;
    sizeCheckMs: number;
    maxOutputBytes: number;
    maxWorkspaceBytes: number;
    maxWorkspaceFiles: number;
  };
  now: () => number;
}

export interface Watched {
  end: SandboxEnd;
  /** Why its directories are beyond their bounds, if they are. */
  tooLarge: string | undefined;
  /** Whether the worker's disk was full at the end. */
  diskWasShort: boolean;
}

/** What a turn's own directory may hold beside the workspace: the input, the door, the output and its first name. */
const turnFiles = 16;

/**
 * Waits for a sandbox to end, by itself or because it must: its time is over, its directories grow without bounds, the
 * disk is full, its output is there and it goes on, or the attempt is stopped.
 *
 * @throws AttemptFailure when it has to be killed and cannot be
 */
export async function watchSandbox(options: WatchOptions): Promise<Watched> {
  const { sandbox, directory, workspace, disk, stop, timeoutMs, limits, now } = options;
  let tooLarge: string | undefined;
  const stopTooLarge = (why: string) => {
    tooLarge = why;
    stop.stop('workspace-too-large');
  };
  const sizes = new SizeWatch({
    directories: [workspace, directory.path],
    bounds: {
      maxBytes: limits.maxWorkspaceBytes + 2 * limits.maxOutputBytes,
      maxEntries: limits.maxWorkspaceFiles + turnFiles,
    },
    unlinkedBytes: () => sandbox.unlinkedBytes(),
    everyMs: limits.sizeCheckMs,
    now,
    onTooLarge: stopTooLarge,
  });
  const leaveDisk = disk.add({
    measure: () => sizes.measure(),
    end: (beyond) => (beyond === undefined ? stop.stop('disk-full') : stopTooLarge(beyond)),
  });
  const timers: NodeJS.Timeout[] = [setTimeout(() => stop.stop('time-limit'), timeoutMs)];
  const over = new AbortController();
  const unwatch = directory.watchOutput(limits.maxOutputBytes, () => {
    // A look at the directory may come back when the sandbox has ended already.
    if (!over.signal.aborted) timers.push(setTimeout(() => stop.stop('lingering'), limits.lingerMs));
  });
  const killFailed = new Promise<never>((_resolve, reject) => {
    const kill = () => {
      sandbox.kill().catch(reject);
    };
    if (stop.stopped.aborted) kill();
    else stop.stopped.addEventListener('abort', kill, { once: true, signal: over.signal });
  });
  try {
    const end = await Promise.race([sandbox.ended, killFailed]);
    // Who is not let write more may end by itself, before it is seen.
    if (end.exitCode !== 0) tooLarge ??= await sizes.check();
    return { end, tooLarge, diskWasShort: disk.wasShort };
  } finally {
    over.abort();
    unwatch();
    leaveDisk();
    for (const timer of timers) clearTimeout(timer);
    await sizes.stop();
  }
}
