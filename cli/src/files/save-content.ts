import { createHash, randomBytes } from 'node:crypto';
import { createWriteStream } from 'node:fs';
import { chmod, link, mkdir, open, rename, rm } from 'node:fs/promises';
import { basename, dirname, join, resolve } from 'node:path';
import { pipeline } from 'node:stream/promises';
import { SuzumioError } from '@suzumio/contract/errors/suzumio-error';
import type { DirectoryEntry, DirectoryFile } from '@suzumio/protocol/artifacts';
import { asOneName } from '@suzumio/protocol/one-name';
import type { Session } from '../session.js';

/** A stream of bytes. */
type Bytes = AsyncIterable<Uint8Array>;

/** The expected size and hash of a file. */
interface Expected {
  readonly sha256: string;
  readonly sizeBytes: number;
}

/**
 * Writes a file completely or not at all, and verifies its content.
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
 * Writes a file of unknown size completely or not at all.
 *
 * @throws SuzumioError `invalid-request` as {@link saveFile}
 */
export async function saveStream(
  path: string,
  content: () => Promise<Bytes>,
  { force }: { force: boolean },
): Promise<void> {
  await beside(path, async (temporary) => {
    await pipeline(await content(), createWriteStream(temporary, { flags: 'wx', mode: 0o644 }));
    if (force) await rename(temporary, path);
    else await link(temporary, path);
  });
}

/**
 * Writes a directory completely or not at all. The path must be free.
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
      try {
        if (entry.kind === 'directory') await mkdir(place);
        else await write(place, entry, await content(entry));
      } catch (error) {
        throw isThere(error) ? oneOnDisk(path, entry, entries) : error;
      }
      if (entry.kind === 'file' && entry.executable) await chmod(place, 0o755);
    }
    await chmod(temporary, 0o755);
    // Reserves the name, so that nothing else is overwritten; rename replaces an empty directory.
    await mkdir(path);
    await rename(temporary, path);
  });
}

/**
 * Reads content whole.
 *
 * @throws SuzumioError `store-corrupt`
 */
export async function readContent(expected: Expected, content: () => Promise<Bytes>): Promise<Buffer> {
  const chunks: Uint8Array[] = [];
  for await (const chunk of checked(content, expected)) chunks.push(chunk);
  return Buffer.concat(chunks);
}

/**
 * Passes a stream through, and throws at its end if it was not the expected content.
 *
 * @throws SuzumioError `store-corrupt`
 */
async function* checked(content: () => Promise<Bytes>, { sha256, sizeBytes }: Expected): Bytes {
  const hash = createHash('sha256');
  let passed = 0;
  for await (const chunk of await content()) {
    passed += chunk.length;
    hash.update(chunk);
    yield chunk;
  }
  if (passed === sizeBytes && hash.digest('hex') === sha256) return;
  throw new SuzumioError('store-corrupt', 'What arrived is not what was stored.', { sha256 });
}

/**
 * Writes the content unchanged to standard output, and nothing else.
 *
 * @throws SuzumioError `invalid-request` where that is a terminal, or JSON goes there; `store-corrupt`
 */
export async function printBytes(
  { context, json }: Session,
  expected: Expected,
  content: () => Promise<Bytes>,
): Promise<void> {
  const refuse = (message: string) => new SuzumioError('invalid-request', message);
  if (json) throw refuse('Its bytes go to standard output, and JSON would, too: leave out --json, or name a file.');
  if (context.out.isTerminal) throw refuse('A terminal is no place for bytes of any kind: name a file, or use a pipe.');
  for await (const chunk of checked(content, expected)) {
    context.out.write(chunk);
    await context.out.drained();
  }
}

/** Runs `work` with an unused name in the directory of `path`, and removes what is left there. */
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
    throw new SuzumioError('store-corrupt', 'What arrived is not what was stored; nothing was written.', { sha256 });
  } finally {
    await handle.close();
  }
}

/** Two names of a directory are one on the disk that it is written to. */
function oneOnDisk(path: string, { path: name }: DirectoryEntry, entries: readonly DirectoryEntry[]): SuzumioError {
  const other = entries.find((entry) => entry.path !== name && asOneName(entry.path) === asOneName(name));
  const both = `"${name}" and ${other ? `"${other.path}"` : 'another name'} are one name on this disk`;
  const message = `${path} was not written: ${both}. Name a place on another one, or take the tar of "suzumio artifacts archive".`;
  return new SuzumioError('invalid-request', message, { path });
}

const isThere = (error: unknown): boolean =>
  typeof error === 'object' && error !== null && 'code' in error && error.code === 'EEXIST';

/** A system error as a sentence. */
function explained(path: string, error: unknown): unknown {
  if (typeof error !== 'object' || error === null || !('syscall' in error && 'code' in error)) return error;
  const message =
    error.code === 'EEXIST'
      ? `${path} is there already, and stays as it is: name another place.`
      : `${path} cannot be written (${String(error.code)}).`;
  return new SuzumioError('invalid-request', message, { path }, { cause: error });
}
