import type { Sandbox, SandboxEnd } from '../engine/turn-engine.js';
import { SizeWatch } from './size-watch.js';
import type { StopSwitch } from './stop-switch.js';
import type { TurnDirectory } from './turn-directory.js';
import type { WorkerDisk } from './worker-disk.js';

export interface WatchOptions {
  sandbox: Sandbox;
  directory: TurnDirectory;
  /** Where it may write besides the turn's own directory. */
  writable: readonly string[];
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
  const { sandbox, directory, writable, disk, stop, timeoutMs, limits, now } = options;
  let tooLarge: string | undefined;
  const stopTooLarge = (why: string) => {
    tooLarge = why;
    stop.stop('workspace-too-large');
  };
  const sizes = new SizeWatch({
    directories: [...writable, directory.path],
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
  try {
    const end = await Promise.race([sandbox.ended, killFailed]);
    // A sandbox that may write no more can exit on its own, before a check finds it.
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
