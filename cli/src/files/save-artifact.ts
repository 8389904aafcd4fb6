import { createHash, randomBytes } from 'node:crypto';
import { chmod, link, mkdir, open, rename, rm } from 'node:fs/promises';
import { basename, dirname, join, resolve } from 'node:path';
import { SuzumioError } from '@suzumio/contract/errors/suzumio-error';
import type { DirectoryEntry, DirectoryFile } from '@suzumio/protocol/artifacts';

/** Bytes as they come. */
export type Bytes = AsyncIterable<Uint8Array>;

/** What a file has to be. */
interface Expected {
  readonly sha256: string;
  readonly sizeBytes: number;
}

/**
 * Writes a file that is there whole or not at all, and is what it should be.
 *
 * @throws SuzumioError `invalid-request` where something is there already, or it cannot be written; `store-corrupt`
 */
export async function saveFile(
  path: string,
  expected: Expected,
  content: () => Promise<Bytes>,
  { force }: { force: boolean },
): Promise<void> {
  await beside(path, async (temporary) => {
    await write(temporary, expected, await content());
    if (force) await rename(temporary, path);
    else await link(temporary, path);
  });
}

/**
 * Writes a directory that is there whole or not at all. Nothing may be in its place.
 *
 * @throws SuzumioError as {@link saveFile}
 */
export async function saveDirectory(
  path: string,
  entries: readonly DirectoryEntry[],
  content: (file: DirectoryFile) => Promise<Bytes>,
): Promise<void> {
  await beside(path, async (temporary) => {
    await mkdir(temporary, { mode: 0o700 });
    for (const entry of entries) {
      const place = join(temporary, entry.path);
      if (entry.kind === 'directory') await mkdir(place);
      else {
        await write(place, entry, await content(entry));
        if (entry.executable) await chmod(place, 0o755);
      }
    }
    await chmod(temporary, 0o755);
    // Takes the name, so that nothing else is written over; an empty directory gives way to a rename.
    await mkdir(path);
    await rename(temporary, path);
  });
}

/**
 * Bytes as they come, which are known to be right when the last of them has come.
 *
 * @throws SuzumioError `store-corrupt`
 */
export async function* checked(content: () => Promise<Bytes>, { sha256, sizeBytes }: Expected): Bytes {
  const hash = createHash('sha256');
  let passed = 0;
  for await (const chunk of await content()) {
    passed += chunk.length;
    hash.update(chunk);
    yield chunk;
  }
  if (passed === sizeBytes && hash.digest('hex') === sha256) return;
  throw new SuzumioError('store-corrupt', 'What arrived is not what was published.', { sha256 });
}

/** Runs `work` with a name that is free, in the same directory as `path`, and leaves nothing under it. */
async function beside(path: string, work: (temporary: string) => Promise<void>): Promise<void> {
  const whole = resolve(path);
  const temporary = join(dirname(whole), `.${basename(whole).slice(0, 100)}.${randomBytes(6).toString('hex')}`);
  try {
    await work(temporary);
  } catch (error) {
    throw explained(path, error);
  } finally {
    await rm(temporary, { recursive: true, force: true });
  }
}

async function write(file: string, { sha256, sizeBytes }: Expected, content: Bytes): Promise<void> {
  const handle = await open(file, 'wx', 0o644);
  try {
    const hash = createHash('sha256');
    let written = 0;
    for await (const chunk of content) {
      written += chunk.length;
      if (written > sizeBytes) break;
      hash.update(chunk);
      await handle.writeFile(chunk);
    }
    if (written === sizeBytes && hash.digest('hex') === sha256) return;
    throw new SuzumioError('store-corrupt', 'What arrived is not what was published; nothing was written.', { sha256 });
  } finally {
    await handle.close();
  }
}

/** What the operating system refused, as a sentence. */
function explained(path: string, error: unknown): unknown {
  if (typeof error !== 'object' || error === null || !('syscall' in error && 'code' in error)) return error;
  const message =
    error.code === 'EEXIST'
      ? `${path} is there already; name another place with --output.`
      : `${path} cannot be written (${String(error.code)}).`;
  return new SuzumioError('invalid-request', message, { path }, { cause: error });
}
