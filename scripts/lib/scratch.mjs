import { existsSync, readFileSync, statfsSync } from 'node:fs';
import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';

const memory = '/dev/shm';
const enoughBytes = 2 * 1024 ** 3;

/**
 * Calls `work` with a directory for temporary files, and removes it with all that is left in it. It lies in memory where
 * there is enough: what the tests write is not meant to outlast them, and a disk takes longer than all they compute.
 */
export async function withScratch(work) {
  const directory = await mkdtemp(join(hasMemory() ? memory : tmpdir(), 'suzumio-'));
  try {
    return await work(directory);
  } finally {
    // What a suite left in use, as a mounted disk, is told beside the results, not in their place.
    await rm(directory, { recursive: true, force: true }).catch((error) => console.log(`    ${error.message}`));
  }
}

/** Whether programs can be kept and run there, too. */
function hasMemory() {
  if (!existsSync('/proc/mounts') || !existsSync(memory)) return false;
  const mount = readFileSync('/proc/mounts', 'utf8')
    .split('\n')
    .map((line) => line.split(' '))
    .findLast(([, place]) => place === memory);
  if (mount?.[2] !== 'tmpfs' || mount[3].split(',').includes('noexec')) return false;
  const { bavail, bsize } = statfsSync(memory);
  return bavail * bsize >= enoughBytes;
}
