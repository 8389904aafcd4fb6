import { readFile, rename, rm, writeFile } from 'node:fs/promises';
import * as z from 'zod';
import type { DataDirectory } from '@suzumio/store/cell/data-directory';

const serverFile = z.object({ url: z.url(), pid: z.int().positive() });

/** The announcement of a server of this data directory. */
export type RunningServer = z.infer<typeof serverFile>;

/** Announces this process's address; the file is replaced atomically. */
export async function announceServer(directory: DataDirectory, server: RunningServer): Promise<void> {
  const temporary = `${directory.serverFile}.${server.pid}`;
  await writeFile(temporary, `${JSON.stringify(server)}\n`, { mode: 0o600 });
  await rename(temporary, directory.serverFile);
}

/** Withdraws {@link announceServer}, unless another process has announced itself since. */
export async function withdrawServer(directory: DataDirectory, pid: number): Promise<void> {
  if ((await readServerFile(directory))?.pid === pid) await rm(directory.serverFile, { force: true });
}

/** The last announced server, if its process is alive. */
export async function findServer(directory: DataDirectory): Promise<RunningServer | undefined> {
  const server = await readServerFile(directory);
  return server && isAlive(server.pid) ? server : undefined;
}

/** @throws SuzumioError `data-dir-invalid` where the directory belongs to another user */
async function readServerFile(directory: DataDirectory): Promise<RunningServer | undefined> {
  let text: string;
  try {
    text = await readFile(directory.serverFile, 'utf8');
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code === 'ENOENT') return undefined;
    throw directory.unreadable(error as Error);
  }
  try {
    return serverFile.parse(JSON.parse(text));
  } catch {
    // Not a server's file: no server runs.
    return undefined;
  }
}

function isAlive(pid: number): boolean {
  try {
    process.kill(pid, 0);
    return true;
  } catch (error) {
    // EPERM: it is alive, and another user's.
    return (error as NodeJS.ErrnoException).code === 'EPERM';
  }
}
