import { existsSync, statfsSync } from 'node:fs';
import { freeSpaceOf } from '@suzumio/protocol/disk-blocks';
import { nearestExisting } from '@suzumio/runtime/disk/files';
import { installation } from '../serving/installation.js';
import { duration, size } from '../render/format.js';
import { broken, type Finding, ok, skipped } from './check.js';

const oldestNode = 22;

export function checkNode(version: string): Finding {
  const major = Number.parseInt(version.replace(/^v/, ''), 10);
  if (major >= oldestNode) return ok('node', version);
  return broken(
    'node',
    `${version}; ${oldestNode} or later is needed`,
    'install a Node that is still supported, or use the one in node_modules/.bin',
  );
}

export function checkInstallation(
  files: readonly string[] = [installation.runnerBundle, installation.shimFile],
): Finding {
  const missing = files.filter((file) => !existsSync(file));
  if (missing.length === 0) return ok('runner', 'built');
  return broken('runner', `${missing.join(' and ')} not there`, 'npm run build');
}

/** Below this, a commit or a container may fail at any moment. */
const leastFreeBytes = 512 * 1024 ** 2;
const leastFreeFiles = 1_000;

/** The disk that the data directory is on, or will be. */
export function checkDisk(root: string): Finding {
  const place = nearestExisting(root);
  const told = statfsSync(place);
  const free = freeSpaceOf(told);
  const room = `${size(free.bytes)} of ${size(told.blocks * told.bsize)} free for ${root}`;
  const remedy = 'make room there, or set SUZUMIO_ROOT to a directory on a larger disk';
  if (free.bytes < leastFreeBytes) return broken('disk', `${room}; ${size(leastFreeBytes)} are needed`, remedy);
  if (free.files < leastFreeFiles) return broken('disk', `${room}, but only ${free.files} more files`, remedy);
  return ok('disk', room);
}

/** A clock as another process tells it. */
export interface OtherClock {
  readonly of: string;
  readonly aheadMs: number;
}

const mostApartMs = 2_000;

/** Leases are judged by the server's clock, and times are shown by this one: they should be the same. */
export function checkClock(others: readonly OtherClock[]): Finding {
  const [worst] = [...others].sort((a, b) => Math.abs(b.aheadMs) - Math.abs(a.aheadMs));
  if (!worst) return skipped('clock', 'nothing to compare it with: no server, no Redis');
  const apartMs = Math.abs(worst.aheadMs);
  if (apartMs <= mostApartMs) return ok('clock', `agrees with ${others.map(({ of }) => of).join(' and ')}`);
  return broken(
    'clock',
    `this machine's is ${duration(apartMs)} ${worst.aheadMs > 0 ? 'behind' : 'ahead of'} that of ${worst.of}`,
    'let both machines set their clocks by NTP (timedatectl set-ntp true)',
  );
}
