import { execFile } from 'node:child_process';
import { randomUUID } from 'node:crypto';
import { mkdir, mkdtemp, rm, stat, truncate, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { promisify } from 'node:util';
import { freeSpaceAt } from '@suzumio/store/sqlite/disk-space';

const run = promisify(execFile);

/** Runs as root, which mounting takes. */
const asRoot = (...command: string[]) => {
  const [file = '', ...rest] = process.getuid?.() === 0 ? command : ['sudo', '-n', ...command];
  return run(file, rest);
};

/** A file system of its own, so small that a test can fill it. */
export interface SmallDisk {
  readonly path: string;
  /** Takes all that is left but so many bytes; without any, until nothing more can be written. */
  fill(leaveBytes?: number): Promise<void>;
  /** Makes files until there is room for so many more. */
  fillFiles(leaveFiles: number): Promise<void>;
  /** Gives back what `fill` and `fillFiles` took. */
  empty(): Promise<void>;
  close(): Promise<void>;
}

/** @param mostFiles how many files, directories and links it has room for; by default, as many as its bytes allow */
export async function smallDisk(sizeBytes: number, mostFiles?: number): Promise<SmallDisk> {
  const path = await mkdtemp(join(tmpdir(), 'suzumio-disk-'));
  const owner = `uid=${String(process.getuid?.() ?? 0)},gid=${String(process.getgid?.() ?? 0)}`;
  const room = `size=${String(sizeBytes)}${mostFiles === undefined ? '' : `,nr_inodes=${String(mostFiles)}`}`;
  await asRoot('mount', '-t', 'tmpfs', '-o', `${room},${owner}`, 'tmpfs', path);
  const ballast = join(path, 'ballast');
  const files = join(path, 'ballast-files');
  const empty = async () => {
    await rm(ballast, { force: true });
    await rm(files, { recursive: true, force: true });
  };
  return {
    path,
    async fill(leaveBytes = 0) {
      await rm(ballast, { force: true });
      const bytes = Math.max(0, freeSpaceAt(path).bytes - leaveBytes);
      await writeFile(ballast, Buffer.alloc(bytes)).catch(async (error: unknown) => {
        if ((error as NodeJS.ErrnoException).code !== 'ENOSPC') throw error;
        // Services write meanwhile: less was left than was seen, and now there is nothing.
        const { size } = await stat(ballast);
        await truncate(ballast, Math.max(0, size - leaveBytes));
      });
    },
    async fillFiles(leaveFiles) {
      await mkdir(files, { recursive: true });
      for (let left = freeSpaceAt(path).files; left > leaveFiles; left = freeSpaceAt(path).files) {
        for (let more = left - leaveFiles; more > 0; more -= 1) await writeFile(join(files, randomUUID()), '');
      }
    },
    empty,
    async close() {
      await asRoot('umount', path);
      await rm(path, { recursive: true });
    },
  };
}
