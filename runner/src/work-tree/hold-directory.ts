import { mkdir, open, readFile, rename, rm } from 'node:fs/promises';
import { join } from 'node:path';
import { hasCode } from '../sandbox/paths/refusal.js';
import { WorkTreeError } from './work-tree-error.js';

/**
 * Has a directory to itself for as long as `use` takes. The lock of a process that has ended is removed.
 *
 * @param directory is made where it is not there
 * @throws WorkTreeError where another process has it
 */
export async function holdDirectory<Result>(directory: string, use: () => Promise<Result>): Promise<Result> {
  await mkdir(directory, { recursive: true });
  const path = join(directory, 'lock');
  await take(path);
  try {
    return await use();
  } finally {
    await rm(path, { force: true });
  }
}

async function take(path: string): Promise<void> {
  for (let tries = 0; tries < 10; tries += 1) {
    if (await acquire(path)) return;
    const holder = await readFile(path, 'utf8').catch(() => undefined);
    if (holder === undefined) continue;
    if (await isAlive(holder)) {
      const [pid] = holder.split(' ');
      throw new WorkTreeError(
        `process ${pid ?? ''} changes files of this repository now. Wait for it, then do it again.`,
      );
    }
    // Of two who see a dead holder's lock, one renames it.
    const away = `${path}.${process.pid}`;
    await rename(path, away).catch(() => undefined);
    const moved = await readFile(away, 'utf8').catch(() => undefined);
    await rm(away, { force: true });
    if (moved !== undefined && moved !== holder)
      throw new WorkTreeError('another process changes files of this repository now.');
  }
  throw new WorkTreeError(`${path} cannot be taken.`);
}

async function acquire(path: string): Promise<boolean> {
  try {
    const file = await open(path, 'wx', 0o600);
    try {
      await file.writeFile(`${process.pid} ${(await startedAt(process.pid)) ?? ''}`);
    } finally {
      await file.close();
    }
    return true;
  } catch (error) {
    if (hasCode(error, 'EEXIST')) return false;
    throw error;
  }
}

async function isAlive(holder: string): Promise<boolean> {
  const [pid = '', started = ''] = holder.split(' ');
  if (!/^\d+$/.test(pid)) return false;
  try {
    process.kill(Number(pid), 0);
  } catch (error) {
    if (hasCode(error, 'ESRCH')) return false;
  }
  // A process of the same number may have come after it.
  return started === '' || (await startedAt(Number(pid))) === started;
}

/** When a process began, as Linux counts it; undefined elsewhere. */
async function startedAt(pid: number): Promise<string | undefined> {
  const stat = await readFile(`/proc/${pid}/stat`, 'utf8').catch(() => undefined);
  return stat?.slice(stat.lastIndexOf(')') + 2).split(' ')[19];
}
