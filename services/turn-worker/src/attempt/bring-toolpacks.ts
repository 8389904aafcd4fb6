import { createHash } from 'node:crypto';
import { chmod, mkdir, writeFile } from 'node:fs/promises';
import { dirname, join } from 'node:path';
import type { ClaimedToolpack } from '@suzumio/protocol/attempts';
import { retry } from '@suzumio/protocol/retry';
import type { LoadedToolpack } from '@suzumio/protocol/runner';
import { filesOfToolpack, maxToolpackContentBytes, type ToolpackFiles } from '@suzumio/protocol/toolpacks/files';
import { AttemptFailure } from '../engine/attempt-failure.js';
import { errnoOf } from '../files/errno.js';
import type { AttemptClient } from '../toolhost/toolhost-client.js';
import { contentRetry } from './agent-workspace.js';
import type { StopSwitch } from './stop-switch.js';

/**
 * Writes local toolpacks below a directory, each under its id.
 *
 * @param seen the runner's path of the directory
 * @throws AttemptFailure `workspace-unavailable`, and others as they are
 */
export async function bringToolpacks(
  packs: readonly ClaimedToolpack[],
  { directory, seen }: { directory: string; seen: string },
  { client, stop }: { client: AttemptClient; stop: StopSwitch },
): Promise<LoadedToolpack[]> {
  for (const pack of packs) {
    try {
      const files = await retry(() => fetched(pack, client), contentRetry(stop));
      await write(files, join(directory, pack.id));
    } catch (error) {
      stop.stopped.throwIfAborted();
      if (error instanceof AttemptFailure || errnoOf(error) === 'ENOSPC') throw error;
      const message = `The toolpack ${pack.id} could not be brought to this host.`;
      throw new AttemptFailure('workspace-unavailable', message, { cause: error });
    }
  }
  return packs.map(({ id, runner, tools }) => ({ id, module: `${seen}/${id}/${runner}`, tools }));
}

async function fetched({ id, sha256 }: ClaimedToolpack, client: AttemptClient): Promise<ToolpackFiles> {
  const chunks: Uint8Array[] = [];
  let sizeBytes = 0;
  for await (const chunk of await client.getContent(sha256)) {
    sizeBytes += chunk.length;
    if (sizeBytes > maxToolpackContentBytes) throw new Error(`The content of the toolpack ${id} is too long.`);
    chunks.push(chunk);
  }
  const content = Buffer.concat(chunks);
  if (createHash('sha256').update(content).digest('hex') === sha256) return filesOfToolpack(content);
  throw new Error(`The content of the toolpack ${id} is not what its hash says.`);
}

/** Readable by the runner as any user, whatever the umask, and not for it to write. */
async function write(files: ToolpackFiles, top: string): Promise<void> {
  for (const [path, bytes] of files) {
    const file = join(top, path);
    await mkdir(dirname(file), { recursive: true });
    await writeFile(file, bytes);
    await chmod(file, 0o444);
    for (let at = dirname(file); at.length >= dirname(top).length; at = dirname(at)) await chmod(at, 0o755);
  }
}
