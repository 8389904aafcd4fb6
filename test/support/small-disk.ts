import { execFile } from 'node:child_process';
import { mkdtemp, rm, stat, truncate, writeFile } from 'node:fs/promises';
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
  /** Gives back what `fill` took. */
  empty(): Promise<void>;
  close(): Promise<void>;
}

/** @param files how many files, directories and links it has room for; by default, as many as its bytes allow */
export async function smallDisk(sizeBytes: number, files?: number): Promise<SmallDisk> {
  const path = await mkdtemp(join(tmpdir(), 'suzumio-disk-'));
  const owner = `uid=${String(process.getuid?.() ?? 0)},gid=${String(process.getgid?.() ?? 0)}`;
  const room = `size=${String(sizeBytes)}${files === undefined ? '' : `,nr_inodes=${String(files)}`}`;
  await asRoot('mount', '-t', 'tmpfs', '-o', `${room},${owner}`, 'tmpfs', path);
  const ballast = join(path, 'ballast');
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
    empty: () => rm(ballast, { force: true }),
    async close() {
      await asRoot('umount', path);
      await rm(path, { recursive: true });
    },
  };
}
